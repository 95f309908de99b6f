//! A11: what a cursor is not (contract 8.5).

use serde_json::{Value, json};
use tests::{Api, Database, Merchant, Receiver, SCOPES, checkout_body, on_every_database, text};

on_every_database!(a11_only_the_lists_own_cursor_is_taken);

/// Cursors of other lists, merchants and modes, altered and made-up ones.
async fn a11_only_the_lists_own_cursor_is_taken(database: Database) {
    let (authority, merchant) = Merchant::on(database, "genuine").await;
    let receiver = Receiver::accepting().await;
    let other = Merchant::create(&authority, "other").await;
    let live = authority.merchant(&merchant.issue_key("live", &SCOPES).await);
    for merchant in [&merchant, &other] {
        for _ in 0..2 {
            merchant.endpoint(&receiver.url("/hook"), &["webhook.test"]).await;
            merchant.paid_order().await;
        }
    }
    for _ in 0..2 {
        let path = format!("/merchants/{}/live/checkouts", merchant.id);
        merchant.operator.post(&path, &checkout_body()).await.expect(201);
    }
    let cursor_of = async |api: &Api, list: &str| {
        text(&api.get(&format!("{list}?limit=1")).await.expect(200), "next_cursor")
    };
    for merchant in [&merchant, &other] {
        for order in ["ORD-100001", "ORD-100002"] {
            merchant.refund(order, &json!({ "amount": 1 })).await;
            merchant.subscription().await;
        }
    }
    let end = text(&merchant.api.get("/events").await.expect(200), "resume_cursor");
    for name in ["one", "two"] {
        merchant.api.post("/sync/checkpoints", &json!({ "name": name, "cursor": end })).await.expect(200);
    }
    let lists = [
        "/events",
        "/orders",
        "/payments",
        "/refunds",
        "/subscriptions",
        "/webhook-endpoints",
        "/sync/orders",
        "/sync/checkpoints",
    ];
    let mut cursors: Vec<(&str, String)> = Vec::new();
    for list in lists {
        cursors.push((list, cursor_of(&merchant.api, list).await));
    }
    let genuine = cursors[0].1.clone();
    assert_eq!(genuine.len(), 47);
    for (list, cursor) in &cursors {
        for asked in lists {
            let reply = merchant.api.get(&format!("{asked}?cursor={cursor}")).await;
            if asked == *list {
                assert_eq!(reply.status, 200, "{}", reply.text());
            } else {
                reply.refused(400, "invalid_cursor");
            }
        }
    }
    let mut bad = vec![
        cursor_of(&other.api, "/events").await,
        cursor_of(&live, "/events").await,
        "x".to_owned(),
        "0".to_owned(),
        "A".repeat(47),
        format!("{genuine}="),
        format!("{genuine}A"),
        format!("{genuine}%20"),
        "A".repeat(256),
        "A".repeat(257),
        "A".repeat(8_000),
    ];
    bad.extend((0..genuine.len()).skip(1).map(|length| genuine[..length].to_owned()));
    bad.extend((0..genuine.len()).map(|at| altered(&genuine, at)));
    for cursor in bad {
        let reply = merchant.api.get(&format!("/events?cursor={cursor}")).await;
        assert_eq!(reply.refused(400, "invalid_cursor")["param"], "cursor", "{cursor}");
    }
    let end_of = async |api: &Api| text(&api.get("/sync/orders").await.expect(200), "resume_cursor");
    for cursor in [end_of(&other.api).await, end_of(&live).await, altered(&end_of(&merchant.api).await, 30)] {
        let reply = merchant.api.get(&format!("/sync/orders?cursor={cursor}")).await;
        assert_eq!(reply.refused(400, "invalid_cursor")["param"], "cursor", "{cursor}");
    }
    // 10 KB do not even fit into the request target, which is looked at first.
    let reply = merchant.api.get(&format!("/events?cursor={}", "A".repeat(10 * 1024))).await;
    reply.refused(414, "uri_too_long");
    let from_the_start = merchant.api.get("/events?cursor=&limit=1").await.expect(200);
    assert_eq!(from_the_start["data"][0]["sequence"], Value::from(1));
}

/// The next character of the alphabet at one place: the smallest change there is.
fn altered(cursor: &str, at: usize) -> String {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let place = alphabet.find(&cursor[at..=at]).unwrap();
    let next = &alphabet[(place + 1) % 64..][..1];
    format!("{}{next}{}", &cursor[..at], &cursor[at + 1..])
}
