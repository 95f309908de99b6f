//! The whole way of a merchant: see what is wrong, correct it, get what was missed, rotate, sign out.

use http::Method;
use serde_json::{Value, json};
use tests::{
    Answer, Authority, Database, Endpoint, Merchant, Receiver, on_both_databases, retries, rows, text,
};

use super::{ALL, entered, link_with, opened};
use crate::browser::audit;

on_both_databases!(
    a_merchant_mends_an_endpoint,
    a_count_says_how_far_it_looked,
    an_endpoint_is_created_once_and_its_secret_shown_once,
    something_is_sent_again_once,
    an_endpoint_that_was_changed_meanwhile_is_left_alone,
    a_page_that_follows_loads_itself_again,
);

fn secret_on(html: &str) -> String {
    let (_, rest) = html.split_once("id=\"secret\">").unwrap();
    rest.split_once('<').unwrap().0.to_owned()
}

async fn a_merchant_mends_an_endpoint(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0,0")], "acme").await;
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.path == "/new" { 200 } else { 404 })).await;
    let endpoint = merchant.endpoint(&receiver.url("/old"), &["order.*"]).await;
    merchant.paid_order().await;
    authority.nothing_pending().await;
    let made = link_with(&merchant, json!({ "scopes": ALL, "return_url": "https://shop.example/" })).await;
    let browser = opened(&made).await;
    let page = format!("/portal/endpoints/{}", endpoint.id);
    let action = |name: &str| format!("{page}/{name}");
    let home = browser.page("/portal").await;
    for said in [
        format!("The endpoint {} fails", receiver.url("/old")),
        format!("href=\"{page}\""),
        "Endpoints, newest first, with their last 24 hours".to_owned(),
        "Failed for good in 24 hours".to_owned(),
    ] {
        assert!(home.contains(&said), "{said}: {home}");
    }
    // A refusal is said in words, and what was typed is still there.
    let typed = [("url", "ftp://a.example/<b>"), ("events", "order.*"), ("description", "the shop")];
    let refused = browser.send(&page, &action("change"), &typed).await;
    assert_eq!(refused.status, 422);
    for kept in
        ["value=\"ftp://a.example/&#60;b&#62;\"", "value=\"the shop\"", "<code>endpoint_url_forbidden</code>"]
    {
        assert!(refused.text().contains(kept), "{kept}: {}", refused.text());
    }
    let url = receiver.url("/new");
    let typed =
        [("url", url.as_str()), ("events", "order.created, order.confirmed"), ("description", "the shop")];
    let said = browser.done(&page, &action("change"), &typed).await;
    assert!(said.contains("The endpoint was changed."), "{said}");
    let now = merchant.endpoint_now(&endpoint).await;
    assert_eq!((&now["url"], &now["description"]), (&json!(url), &json!("the shop")));
    assert_eq!(now["enabled_events"], json!(["order.confirmed", "order.created"]));
    let said = browser.done(&page, &action("change"), &typed).await;
    assert!(said.contains("The endpoint was like this already."), "{said}");
    let typed = [("url", url.as_str()), ("events", "order.*"), ("description", "")];
    browser.done(&page, &action("change"), &typed).await;
    let now = merchant.endpoint_now(&endpoint).await;
    assert_eq!((&now["description"], &now["enabled_events"]), (&Value::Null, &json!(["order.*"])));
    for (form, status, reason) in
        [("disable", "disabled", json!("merchant")), ("enable", "enabled", Value::Null)]
    {
        browser.done(&page, &action(form), &[]).await;
        let now = merchant.endpoint_now(&endpoint).await;
        assert_eq!((&now["status"], &now["disabled_reason"]), (&json!(status), &reason));
    }
    let missed = browser.recovers(&merchant, &page, &receiver).await;
    authority.nothing_pending().await;
    assert!(browser.page(&page).await.contains("Everything has arrived."));
    assert!(browser.page("/portal").await.contains("Nothing is wrong"));
    // With an overlap both secrets sign, and the new one is on no other page.
    let shown = browser.send(&page, &action("rotate"), &[("overlap_hours", "2")]).await;
    let secret = secret_on(shown.text());
    assert!(secret.starts_with("whsec_") && secret != endpoint.secret);
    assert!(!browser.page(&page).await.contains(&secret));
    let said = browser.done(&page, &action("test"), &[]).await;
    assert!(said.contains("A test event is on its way."), "{said}");
    let arrivals = receiver.until("the test", |arrivals| arrivals.accepted("/new") == missed + 1).await;
    let test = arrivals.at("/new").last().unwrap();
    assert!(test.verify(&secret).is_ok() && test.verify(&endpoint.secret).is_ok());
    browser.done(&page, &action("retire"), &[]).await;
    let out = browser.send("/portal", "/portal/sign-out", &[]).await;
    assert!(out.text().contains("href=\"https://shop.example/\""), "{}", out.text());
    let entries = audit(&authority).await;
    let begun = entries.iter().position(|(operation, _)| operation == "portal.sign_in").unwrap();
    assert!(entries[..=begun].iter().all(|(_, by)| *by == text(&made, "id")), "{entries:?}");
    let operations: Vec<&str> = entries[..=begun].iter().map(|(operation, _)| operation.as_str()).collect();
    assert_eq!(
        operations,
        [
            "portal.sign_out",
            "endpoints.retire_secret",
            "endpoints.test",
            "endpoints.rotate_secret",
            "endpoints.recover",
            "endpoints.change",
            "endpoints.change",
            "endpoints.change",
            "endpoints.change",
            "endpoints.change",
            "portal.sign_in"
        ]
    );
}

/// The oldest 2,000 events are counted, whatever is behind them.
async fn a_count_says_how_far_it_looked(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let receiver = Receiver::accepting().await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    merchant.checkout().await;
    authority.nothing_pending().await;
    let arrived = merchant.events().await.len();
    authority.copy_event(&merchant.id, 2_010).await;
    let browser = entered(&merchant, ALL).await;
    let page = format!("/portal/endpoints/{}", endpoint.id);
    let since = [("since", "2020-01-01T00:00:00Z")];
    let counted = browser.send(&page, &format!("{page}/recover/count"), &since).await;
    let missed = format!(
        "<strong>{} events</strong> have not arrived. So many are among the oldest 2,000",
        2_000 - arrived
    );
    assert!(counted.text().contains(&missed), "{}", counted.text());
}

async fn an_endpoint_is_created_once_and_its_secret_shown_once(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "acme").await;
    let receiver = Receiver::accepting().await;
    let browser = entered(&merchant, ALL).await;
    let page = "/portal/endpoints";
    assert!(browser.page(page).await.contains("There is no endpoint yet."));
    assert!(browser.page("/portal/deliveries").await.contains("There is no endpoint yet."));
    let refused = browser.send(page, page, &[("url", "https://a.example/"), ("events", "order.sold")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("value=\"order.sold\""), "{}", refused.text());
    let form = browser.form(page, page).await;
    let url = receiver.url("/hook");
    let typed = [("url", url.as_str()), ("events", "*"), ("description", "the shop")];
    let shown = browser.send_again(page, &form, &typed).await;
    assert_eq!(shown.status, 200, "{}", shown.text());
    assert!(shown.text().contains("was created. It is shown here and nowhere else"), "{}", shown.text());
    let secret = secret_on(shown.text());
    assert_eq!(secret_on(browser.send_again(page, &form, &typed).await.text()), secret);
    let other = browser.send_again(page, &form, &[("url", url.as_str()), ("events", "order.*")]).await;
    assert!(other.text().contains("<code>idempotency_key_reused</code>"), "{}", other.text());
    let found = merchant.api.get("/webhook-endpoints").await.expect(200);
    let found = rows(&found);
    assert_eq!((found.len(), &found[0]["url"]), (1, &json!(url)));
    let endpoint = Endpoint { id: text(&found[0], "id"), secret };
    merchant.paid_order().await;
    let arrivals = receiver.until("an event", |arrivals| arrivals.accepted("/hook") > 0).await;
    assert!(arrivals.all[0].verify(&endpoint.secret).is_ok());
    for path in [page.to_owned(), format!("{page}/{}", endpoint.id), "/portal".to_owned()] {
        assert!(!browser.page(&path).await.contains("whsec_"), "{path}");
    }
}

async fn something_is_sent_again_once(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0")], "acme").await;
    let receiver = Receiver::start(|arrival| {
        Answer::status(if arrival.nth == 1 { 500 } else { 200 }).with_body("out of order")
    })
    .await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["order.created"]).await;
    merchant.paid_order().await;
    authority.nothing_pending().await;
    let browser = entered(&merchant, ALL).await;
    let first = &merchant.deliveries(&endpoint).await[0];
    let (id, event) = (text(first, "id"), text(first, "event_id"));
    let list = browser.page(&format!("/portal/deliveries?endpoint={}&status=failed", endpoint.id)).await;
    assert!(list.contains(&format!("href=\"/portal/deliveries/{id}\"")), "{list}");
    assert!(browser.page("/portal/deliveries?status=succeeded").await.contains("There are none."));
    let page = format!("/portal/deliveries/{id}");
    let html = browser.page(&page).await;
    assert!(html.contains("All attempts were used. The receiver answered 500"), "{html}");
    assert!(html.contains("<bdi>out of order</bdi>"), "{html}");
    let retry = format!("{page}/retry");
    let form = browser.form(&page, &retry).await;
    let sent = browser.send_again(&retry, &form, &[]).await;
    let twice = browser.send_again(&retry, &form, &[]).await;
    assert_eq!((sent.status, twice.header("location")), (303, sent.header("location")));
    receiver.until("the delivery", |arrivals| arrivals.accepted("/hook") == 1).await;
    authority.nothing_pending().await;
    assert_eq!(merchant.deliveries(&endpoint).await.len(), 2);
    let list = browser.page("/portal/events?type=order.created").await;
    assert!(list.contains(&format!("href=\"/portal/events/{event}\"")), "{list}");
    assert_eq!(list.matches("<th scope=\"row\">").count(), 1, "{list}");
    let page = format!("/portal/events/{event}");
    let said = browser.done(&page, &format!("{page}/replay"), &[]).await;
    assert!(said.contains("The event is sent once more."), "{said}");
    receiver.until("the event", |arrivals| arrivals.all.len() == 3).await;
    let said = browser.page(&page).await;
    assert!(said.contains(&receiver.url("/hook")) && said.contains("&quot;order.created&quot;"), "{said}");
}

async fn an_endpoint_that_was_changed_meanwhile_is_left_alone(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let settings = json!({ "require_if_match": true, "require_idempotency_key": true });
    let merchant = Merchant::with_settings(&authority, "acme", settings).await;
    let body = json!({ "url": "http://127.0.0.1:9/hook", "enabled_events": ["*"] });
    let made = merchant.api.post_as("made", "/webhook-endpoints", &body).await.expect(201);
    let browser = entered(&merchant, ALL).await;
    let page = format!("/portal/endpoints/{}", text(&made, "id"));
    let disable = format!("{page}/disable");
    let form = browser.form(&page, &disable).await;
    let api = format!("/webhook-endpoints/{}", text(&made, "id"));
    let change = json!({ "description": "changed by the merchant's backend" });
    let call =
        merchant.api.call(Method::PATCH, &api).header("idempotency-key", "changed").header("if-match", "*");
    call.json(&change).send().await.expect(200);
    let late = browser.send_again(&disable, &form, &[]).await;
    assert!(late.text().contains("<code>resource_version_conflict</code>"), "{}", late.text());
    let said = browser.done(&page, &disable, &[]).await;
    assert!(said.contains("The endpoint is disabled."), "{said}");
}

async fn a_page_that_follows_loads_itself_again(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "acme").await;
    merchant.endpoint("http://127.0.0.1:9/hook", &["*"]).await;
    let browser = entered(&merchant, ALL).await;
    for path in ["/portal", "/portal/events", "/portal/deliveries"] {
        let still = browser.page(path).await;
        assert!(!still.contains("http-equiv"), "only for who asks for it: {still}");
        let (before, _) = still.split_once("follow=yes\"").unwrap();
        let link = before.rsplit_once("href=\"").unwrap().1.replace("&amp;", "&").replace("&#38;", "&");
        let follows = browser.page(&format!("{link}follow=yes")).await;
        assert!(
            follows.contains("<noscript><meta http-equiv=\"refresh\" content=\"10\"></noscript>"),
            "{follows}"
        );
        assert!(follows.contains(">Stop</a>"), "{follows}");
    }
}
