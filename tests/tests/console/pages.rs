//! What pages say.

use serde_json::json;
use tests::partners::{connect, share};
use tests::{
    Answer, Authority, Database, Merchant, Receiver, on_both_databases, payment_body, retries, rows, text,
};

use crate::browser::{Browser, encoded};

on_both_databases!(
    the_first_page_says_what_is_wrong,
    a_record_is_found_by_anything_it_is_called,
    what_has_no_page_leads_to_whose_it_is,
    the_story_of_an_order_has_everything,
    long_lists_go_on_behind_a_link,
);

async fn the_first_page_says_what_is_wrong(database: Database) {
    let authority = Authority::on(database, &[retries("0,0")]).await;
    let browser = Browser::signed_in(&authority).await;
    let fine = browser.page("/console").await;
    assert!(fine.contains("Nothing is wrong"), "{fine}");
    assert!(fine.contains("Nothing happened in the last 24 hours."));
    assert!(fine.contains("Nothing was sent in the last 24 hours."));
    let merchant = Merchant::create(&authority, "acme").await;
    let receiver = Receiver::start(|_| Answer::status(500)).await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    // Money that comes when the checkout has ended.
    let checkout = merchant.checkout().await;
    let payment = merchant.payment(&checkout, "automatic").await;
    let cancel = format!("/checkouts/{}/cancel", text(&checkout, "id"));
    merchant.operator.post(&cancel, &json!({})).await.expect(200);
    merchant.report(&payment, "succeeded").await;
    authority.nothing_pending().await;
    let events = merchant.api.get("/events").await.expect(200);
    let page = browser.page("/console").await;
    for said in [
        format!("The endpoint {} fails", receiver.url("/hook")),
        format!("href=\"/console/endpoints/{}\"", endpoint.id),
        format!("href=\"/console/records/{}\"", text(&payment, "id")),
        "Give the money back, then close the alert.".to_owned(),
        "Attempts by hour in the last 24 hours:".to_owned(),
        format!("Events by hour in the last 24 hours: {}.", rows(&events).len()),
        "<rect class=\"bad\"".to_owned(),
    ] {
        assert!(page.contains(&said), "{said}: {page}");
    }
    // Its deliveries in another state are still its own.
    let of_it = format!("/console/deliveries?endpoint={}", endpoint.id);
    let page = browser.page(&of_it).await;
    assert!(page.contains(&format!("href=\"{of_it}&amp;status=failed\"")), "{page}");
    // One that an operator disabled stands there too, until it is well.
    let disable = endpoint.path("/disable");
    merchant.operator.post(&disable, &json!({ "reason": "answers 500" })).await.expect(200);
    assert!(browser.page("/console").await.contains("is disabled (operator)"));
}

async fn a_record_is_found_by_anything_it_is_called(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let endpoint = merchant.endpoint("http://127.0.0.1:9/hook", &["order.created"]).await;
    let mut body = tests::checkout_body();
    body["customer"] = json!({ "reference": "c 77/ä" });
    let path = merchant.platform_path("checkouts");
    let checkout = merchant.operator.post(&path, &body).await.expect(201);
    let mut body = payment_body(&checkout, "automatic", "start");
    body["processor"]["reference"] = json!("ch_1");
    let payment = merchant.operator.post(&merchant.platform_path("payments"), &body).await.expect(201);
    let report = merchant.report(&payment, "succeeded").await;
    let number = text(&report["payment"], "order_number");
    let parcel = json!({ "carrier": "dhl", "tracking_number": "JD 0146" });
    let parcel = merchant.api.post(&format!("/orders/{number}/shipments"), &parcel).await.expect(201);
    let reference = format!("/orders/{number}/external-references/erp");
    let put = merchant.api.call(http::Method::PUT, &reference).json(&json!({ "id": "SO-4711" })).send().await;
    put.expect(200);
    let refund = json!({ "amount": 100, "reason": "other" });
    let refund = merchant.refund(&number, &refund).await;
    let browser = Browser::signed_in(&authority).await;
    let order = format!("/console/orders/{}/test/{number}", merchant.id);
    let deliveries = merchant.operator.get("/deliveries").await.expect(200);
    let delivery = &deliveries["data"][0];
    let event = text(delivery, "event_id");
    for (name, page) in [
        (number.as_str(), order.as_str()),
        (&text(&checkout, "id"), &order),
        (&text(&payment, "id"), &order),
        (&text(&parcel, "id"), &order),
        (&text(&refund, "id"), &order),
        ("c 77/ä", &order),
        ("SO-4711", &order),
        ("JD 0146", &order),
        ("ch_1", &order),
        ("acme", &format!("/console/merchants/{}", merchant.id)),
        (&merchant.id, &format!("/console/merchants/{}", merchant.id)),
        (&endpoint.id, &format!("/console/endpoints/{}", endpoint.id)),
        (&text(delivery, "id"), &format!("/console/deliveries/{}", text(delivery, "id"))),
        (&event, &format!("/console/events/{event}")),
    ] {
        let found = browser.get(&format!("/console/search?q=%20{}%20", encoded(name))).await;
        assert_eq!((found.status, found.header("location")), (303, Some(page)), "{name}: {}", found.text());
        browser.page(page).await;
    }
    // What several have is listed; what nobody has is said so.
    let other = Merchant::create(&authority, "other").await;
    assert_eq!(other.paid_order().await, number);
    let both = browser.page(&format!("/console/search?q={number}")).await;
    for id in [&merchant.id, &other.id] {
        assert!(both.contains(&format!("href=\"/console/orders/{id}/test/{number}\"")), "{both}");
    }
    let long = "x".repeat(513);
    for nothing in ["JD 0147", "evt_01k3zqa7t0e9h8w8r1v0c2n5xk", "%", "'", "\u{0}", &long] {
        let page = browser.page(&format!("/console/search?q={}", encoded(nothing))).await;
        assert!(page.contains("Nothing has this number, id or reference."), "{page}");
    }
    let subscription = merchant.subscription().await;
    // Each has its history on its page, with what became of it.
    for (record, types) in [
        (&payment, &["payment.created", "payment.succeeded"][..]),
        (&checkout, &["checkout.created", "checkout.completed"]),
        (&parcel, &["shipment.created"]),
        (&refund, &["refund.requested"]),
        (&subscription, &["subscription.created"]),
    ] {
        let page = browser.page(&format!("/console/records/{}", text(record, "id"))).await;
        assert_eq!(page.contains(&format!("href=\"{order}\"")), record != &subscription, "{page}");
        let shown: Vec<usize> =
            types.iter().filter_map(|kind| page.find(&format!("<bdi>{kind}</bdi>"))).collect();
        assert!(shown.len() == types.len() && shown.is_sorted(), "{page}");
    }
}

async fn what_has_no_page_leads_to_whose_it_is(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let (owner, partner) =
        (Merchant::create(&authority, "acme").await, Merchant::create(&authority, "warehouse").await);
    let number = owner.paid_order().await;
    let connection = connect(&owner, &partner).await;
    let share = share(&owner, &number, &connection).await;
    let cursor = &owner.api.get("/events").await.expect(200)["resume_cursor"];
    let checkpoint = json!({ "name": "erp", "cursor": cursor });
    let checkpoint = owner.api.post("/sync/checkpoints", &checkpoint).await.expect(200);
    let keys = owner.operator.get(&format!("/merchants/{}/api-keys", owner.id)).await.expect(200);
    let checkout = owner.checkout().await;
    let payment = owner.payment(&checkout, "automatic").await;
    owner
        .operator
        .post(&format!("/checkouts/{}/cancel", text(&checkout, "id")), &json!({}))
        .await
        .expect(200);
    owner.report(&payment, "succeeded").await;
    let alert = text(&owner.operator.get("/alerts").await.expect(200)["data"][0], "id");
    let writer = text(&owner.operator.get("/audit-log").await.expect(200)["data"][0], "created_by");
    let browser = Browser::signed_in(&authority).await;
    let page = format!("/console/merchants/{}", owner.id);
    for (id, page) in [
        (&connection, page.clone()),
        (&text(&checkpoint, "id"), page.clone()),
        (&text(&keys["data"][0], "id"), page),
        (&share, format!("/console/orders/{}/test/{number}", owner.id)),
        (&alert, "/console/alerts?status=open".to_owned()),
        (&writer, format!("/console/audit-log?author={writer}")),
    ] {
        let found = browser.get(&format!("/console/search?q={id}")).await;
        assert_eq!(
            (found.status, found.header("location")),
            (303, Some(page.as_str())),
            "{id}: {}",
            found.text()
        );
        browser.page(&page).await;
    }
    for prefix in ["pcn", "ckp", "osh", "alt", "aud", "li", "req"] {
        let page = browser.page(&format!("/console/search?q={prefix}_01k3zqa7t0e9h8w8r1v0c2n5xk")).await;
        assert!(page.contains("Nothing has this number, id or reference."), "{page}");
    }
}

async fn the_story_of_an_order_has_everything(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0,0")], "acme").await;
    let answer = |status: u16| move |_: &tests::Arrival| Answer::status(status).with_body("out of order");
    let (bad, good) = (Receiver::start(answer(503)).await, Receiver::start(answer(200)).await);
    merchant.endpoint(&bad.url("/bad"), &["order.*"]).await;
    merchant.endpoint(&good.url("/good"), &["*"]).await;
    let number = merchant.paid_order().await;
    merchant.api.post(&format!("/orders/{number}/shipments"), &json!({ "carrier": "dhl" })).await.expect(201);
    authority.nothing_pending().await;
    let browser = Browser::signed_in(&authority).await;
    let page = browser.page(&format!("/console/orders/{}/test/{number}", merchant.id)).await;
    let events = [
        "checkout.created",
        "payment.created",
        "payment.succeeded",
        "checkout.completed",
        "order.created",
        "order.confirmed",
        "shipment.created",
        "order.shipped",
    ];
    let place = |event: &str| page.find(&format!("<bdi>{event}</bdi>")).unwrap_or_else(|| panic!("{event}"));
    assert!(place("checkout.created") < place("order.created"), "oldest first");
    assert!(place("order.created") < place("order.shipped"));
    for event in events {
        place(event);
    }
    let table = page.matches("The receiver answered 503: its log says why.").count();
    assert_eq!(
        table,
        merchant.events().await.iter().filter(|event| text(event, "type").starts_with("order.")).count()
    );
    assert!(page.contains("<bdi>out of order</bdi>"));
    assert!(page.contains("<bdi>53.00 USD</bdi>"), "{page}");
}

async fn long_lists_go_on_behind_a_link(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    merchant.endpoint("http://127.0.0.1:9/hook", &["order.created"]).await;
    merchant.paid_orders(27).await;
    let browser = Browser::signed_in(&authority).await;
    for (path, first, rest) in [
        (format!("/console/merchants/{}?mode=test", merchant.id), 25, 2),
        ("/console/deliveries".to_owned(), 25, 2),
        ("/console/audit-log".to_owned(), 25, 25),
    ] {
        let rows = |html: &str| html.matches("<th scope=\"row\">").count();
        let page = browser.page(&path).await;
        let endpoints = usize::from(path.contains("merchants"));
        assert_eq!(rows(&page), first + endpoints, "{path}");
        let (_, link) = page.split_once("rel=\"next\" href=\"").unwrap();
        let next = link.split_once('"').unwrap().0.replace("&#38;", "&").replace("&amp;", "&");
        assert_eq!(rows(&browser.page(&next).await), rest + endpoints, "{next}");
    }
}
