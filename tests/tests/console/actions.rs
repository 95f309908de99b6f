//! Forms: each does what the API does, once, and is in the audit log; a refusal is said on the page.

use authority_domain::KeyId;
use serde_json::{Value, json};
use tests::{Answer, Authority, Database, Merchant, Receiver, on_both_databases, retries, rows, text};

use crate::browser::{Browser, audit};

on_both_databases!(
    an_endpoint_is_corrected_and_gets_what_it_missed,
    a_secret_is_rotated_and_shown_once,
    a_refund_that_is_sent_twice_is_requested_once,
    a_delivery_and_an_event_are_sent_again,
    an_endpoint_that_was_changed_meanwhile_is_left_alone,
    the_platforms_own_endpoint_has_its_page,
);

/// The operations of the audit log that a browser did, the newest first.
async fn done_by(authority: &Authority, name: &str) -> Vec<String> {
    let entries = audit(authority).await;
    let (_, author) = entries.iter().find(|(operation, _)| operation == "console.sign_in").unwrap();
    assert!(KeyId::parse(author).is_some(), "{name}");
    let until = entries.iter().position(|(operation, _)| operation == "console.sign_in").unwrap();
    entries[..until]
        .iter()
        .map(|(operation, by)| {
            assert_eq!(by, author);
            operation.clone()
        })
        .collect()
}

async fn an_endpoint_is_corrected_and_gets_what_it_missed(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0,0")], "acme").await;
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.path == "/new" { 200 } else { 404 })).await;
    let endpoint = merchant.endpoint(&receiver.url("/old"), &["order.*"]).await;
    merchant.paid_order().await;
    authority.nothing_pending().await;
    let browser = Browser::signed_in(&authority).await;
    let page = format!("/console/endpoints/{}", endpoint.id);
    let action = |name: &str| format!("{page}/{name}");
    // A refusal is said in words, and what was typed is still there.
    let refused = browser.send(&page, &action("url"), &[("url", "ftp://a.example/<b>")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("value=\"ftp://a.example/&#60;b&#62;\""), "{}", refused.text());
    assert!(refused.text().contains("<code>endpoint_url_forbidden</code>"), "{}", refused.text());
    let said = browser.done(&page, &action("url"), &[("url", &receiver.url("/new"))]).await;
    assert!(said.contains("The endpoint was changed."), "{said}");
    assert_eq!(merchant.endpoint_now(&endpoint).await["url"], receiver.url("/new"));
    let said = browser.done(&page, &action("url"), &[("url", &receiver.url("/new"))]).await;
    assert!(said.contains("The endpoint was like this already."), "{said}");
    // Disabled and enabled, with a reason.
    let refused = browser.send(&page, &action("disable"), &[("reason", "")]).await;
    assert_eq!(refused.status, 422, "{}", refused.text());
    browser.done(&page, &action("disable"), &[("reason", "it is night")]).await;
    assert_eq!(merchant.endpoint_now(&endpoint).await["status"], "disabled");
    browser.done(&page, &action("enable"), &[("reason", "it is day")]).await;
    assert_eq!(merchant.endpoint_now(&endpoint).await["status"], "enabled");
    let wrong = browser.send(&page, &action("recover/count"), &[("since", "yesterday")]).await;
    assert_eq!(wrong.status, 422, "{}", wrong.text());
    assert!(wrong.text().contains("value=\"yesterday\""));
    let missed = browser.recovers(&merchant, &page, &receiver).await;
    // A test event, and the end of it.
    let said = browser.done(&page, &action("test"), &[]).await;
    assert!(said.contains("A test event is on its way."), "{said}");
    receiver.until("the test", |arrivals| arrivals.accepted("/new") == missed + 1).await;
    assert_eq!(
        done_by(&authority, "mends").await,
        [
            "endpoints.test",
            "endpoints.recover",
            "endpoints.enable",
            "endpoints.disable",
            "endpoints.change",
            "endpoints.change"
        ]
    );
}

async fn a_secret_is_rotated_and_shown_once(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let endpoint = merchant.endpoint("http://127.0.0.1:9/hook", &["*"]).await;
    let browser = Browser::signed_in(&authority).await;
    let page = format!("/console/endpoints/{}", endpoint.id);
    let rotate = format!("{page}/rotate");
    let refused = browser.send(&page, &rotate, &[("overlap_hours", "a day")]).await;
    assert_eq!(refused.status, 422);
    let form = browser.form(&page, &rotate).await;
    let shown = browser.send_again(&rotate, &form, &[("overlap_hours", "2")]).await;
    assert_eq!(shown.status, 200, "{}", shown.text());
    let secret = |html: &str| {
        let (_, rest) = html.split_once("id=\"secret\">").unwrap();
        rest.split_once('<').unwrap().0.to_owned()
    };
    let new = secret(shown.text());
    assert!(new.starts_with("whsec_") && new != endpoint.secret);
    // The same form again shows the same secret; no other page shows it.
    let again = browser.send_again(&rotate, &form, &[("overlap_hours", "2")]).await;
    assert_eq!((again.status, secret(again.text())), (200, new.clone()));
    for path in [page.as_str(), "/console/audit-log", "/console"] {
        assert!(!browser.page(path).await.contains(&new), "{path}");
    }
    // Until the overlap ends, the page shows which secret signs what.
    let timeline = browser.page(&page).await;
    assert!(timeline.contains("Two secrets sign"), "{timeline}");
    let last = format!("the new secret alone, which ends with <code>…{}</code>", &new[new.len() - 3..]);
    assert!(timeline.contains(&last), "{timeline}");
    // A second rotation must be forced while the overlap is open.
    let form = browser.form(&page, &rotate).await;
    let refused = browser.send_again(&rotate, &form, &[("overlap_hours", "2")]).await;
    assert!(refused.text().contains("<code>rotation_in_progress</code>"), "{}", refused.text());
    let said = browser.done(&page, &format!("{page}/retire"), &[]).await;
    assert!(said.contains("The previous secret no longer signs."), "{said}");
    assert!(!browser.page(&page).await.contains("Two secrets sign"));
    assert_eq!(merchant.endpoint_now(&endpoint).await["previous_secret_expires_at"], Value::Null);
    assert_eq!(done_by(&authority, "rotates").await, ["endpoints.retire_secret", "endpoints.rotate_secret"]);
}

async fn a_refund_that_is_sent_twice_is_requested_once(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let number = merchant.paid_order().await;
    let browser = Browser::signed_in(&authority).await;
    let page = format!("/console/orders/{}/test/{number}", merchant.id);
    let action = format!("{page}/refund");
    let refused = browser.send(&page, &action, &[("amount", "12,50"), ("note", "<i>broken")]).await;
    assert_eq!(refused.status, 422);
    for kept in ["value=\"12,50\"", "value=\"&#60;i&#62;broken\"", "Must be an amount of USD such as 12.50."]
    {
        assert!(refused.text().contains(kept), "{kept}: {}", refused.text());
    }
    let much = browser.send(&page, &action, &[("amount", "53.01"), ("note", "")]).await;
    assert!(much.text().contains("<code>refund_amount_exceeded</code>"), "{}", much.text());
    let form = browser.form(&page, &action).await;
    let typed = [("amount", "12.50"), ("note", "one of two was broken")];
    let [first, second] =
        [browser.send_again(&action, &form, &typed).await, browser.send_again(&action, &form, &typed).await];
    assert_eq!((first.status, second.status), (303, 303), "{}", second.text());
    assert_eq!(first.header("location"), second.header("location"));
    let refunds = merchant.api.get(&format!("/refunds?order_number={number}")).await.expect(200);
    let refunds = rows(&refunds);
    assert_eq!(refunds.len(), 1);
    assert_eq!((&refunds[0]["amount"], &refunds[0]["note"]), (&json!(1250), &json!("one of two was broken")));
    assert_eq!(refunds[0]["requested_by"]["type"], "operator");
    // The same form with something else typed is not the same.
    let other = browser.send_again(&action, &form, &[("amount", "1.00")]).await;
    assert!(other.text().contains("<code>idempotency_key_reused</code>"), "{}", other.text());
    // Without an amount: all that is left.
    let said = browser.done(&page, &action, &[("amount", ""), ("note", "")]).await;
    assert!(said.contains("The refund was requested."), "{said}");
    assert_eq!(merchant.order(&number).await["payment_summary"]["refundable"], 0);
    assert!(!said.contains(&action), "nothing is left to give back");
    assert_eq!(done_by(&authority, "refunds").await, ["refunds.request", "refunds.request"]);
    authority.is_sound().await;
}

async fn a_delivery_and_an_event_are_sent_again(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0")], "acme").await;
    let receiver = Receiver::start(|arrival| Answer::status(if arrival.nth == 1 { 500 } else { 200 })).await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["order.created"]).await;
    let number = merchant.paid_order().await;
    authority.nothing_pending().await;
    let browser = Browser::signed_in(&authority).await;
    let first = &merchant.deliveries(&endpoint).await[0];
    let (id, event) = (text(first, "id"), text(first, "event_id"));
    let page = format!("/console/deliveries/{id}");
    assert!(browser.page(&page).await.contains("All attempts were used. The receiver answered 500"));
    // From the story of the order.
    let order = format!("/console/orders/{}/test/{number}", merchant.id);
    let form = browser.form(&order, &format!("{page}/retry")).await;
    let sent = browser.send_again(&format!("{page}/retry"), &form, &[]).await;
    let twice = browser.send_again(&format!("{page}/retry"), &form, &[]).await;
    assert_eq!((sent.status, twice.header("location")), (303, sent.header("location")));
    receiver.until("the delivery", |arrivals| arrivals.accepted("/hook") == 1).await;
    authority.nothing_pending().await;
    assert_eq!(merchant.deliveries(&endpoint).await.len(), 2);
    // What arrived can be sent to the same endpoint once more, as the event.
    let page = format!("/console/events/{event}");
    let replay = format!("{page}/replay");
    let said = browser.done(&page, &replay, &[]).await;
    assert!(said.contains("The event is sent once more."), "{said}");
    receiver.until("the event", |arrivals| arrivals.all.len() == 3).await;
    authority.nothing_pending().await;
    // To an endpoint of nobody.
    let form = browser.form(&page, &replay).await;
    let token: Vec<_> = form.into_iter().filter(|(name, _)| name != "endpoint").collect();
    let unknown = [("endpoint", "we_01k3zqa7t0e9h8w8r1v0c2n5xk")];
    let refused = browser.send_again(&replay, &token, &unknown).await;
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert_eq!(done_by(&authority, "sends").await, ["events.replay", "deliveries.retry"]);
}

async fn an_endpoint_that_was_changed_meanwhile_is_left_alone(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let endpoint = merchant.endpoint("http://127.0.0.1:9/hook", &["*"]).await;
    let browser = Browser::signed_in(&authority).await;
    let page = format!("/console/endpoints/{}", endpoint.id);
    let action = format!("{page}/url");
    let form = browser.form(&page, &action).await;
    let path = endpoint.path("");
    let change = json!({ "description": "changed by its merchant" });
    merchant.api.patch(&path, &change).await.expect(200);
    let late = browser.send_again(&action, &form, &[("url", "http://127.0.0.1:9/other")]).await;
    assert!(late.text().contains("<code>resource_version_conflict</code>"), "{}", late.text());
    assert_eq!(merchant.endpoint_now(&endpoint).await["url"], "http://127.0.0.1:9/hook");
    // One that its merchant deletes can still be looked at, and nothing can be done to it.
    merchant.api.delete(&path).await.expect(200);
    let html = browser.page(&page).await;
    assert!(html.contains("Deleted") && !html.contains(&action), "{html}");
    let gone = browser.send_again(&action, &form, &[("url", "http://127.0.0.1:9/other")]).await;
    assert_eq!(gone.status, 404, "{}", gone.text());
}

async fn the_platforms_own_endpoint_has_its_page(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let receiver = Receiver::accepting().await;
    let sink = json!({ "url": receiver.url("/sink"), "enabled_events": ["*"] });
    let sink = authority.operator().post("/sink", &sink).await.expect(201);
    let number = merchant.paid_order().await;
    authority.nothing_pending().await;
    let browser = Browser::signed_in(&authority).await;
    let page = format!("/console/endpoints/{}", text(&sink, "id"));
    let html = browser.page(&page).await;
    assert!(html.contains("the platform") && !html.contains("recover/count"), "{html}");
    let said = browser.done(&page, &format!("{page}/url"), &[("url", &receiver.url("/other"))]).await;
    assert!(said.contains("The endpoint was changed."), "{said}");
    let shown = browser.send(&page, &format!("{page}/rotate"), &[("overlap_hours", "0")]).await;
    assert!(shown.text().contains("whsec_"), "{}", shown.text());
    // The story of an order has what went to the platform, which no merchant can send again.
    let order = browser.page(&format!("/console/orders/{}/test/{number}", merchant.id)).await;
    assert!(order.contains(&receiver.url("/other")) && !order.contains("/replay"), "{order}");
}
