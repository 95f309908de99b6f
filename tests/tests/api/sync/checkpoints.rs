//! Checkpoints as they are made and moved (contract 2.13, 4.12).

use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::damage::copy;
use tests::{Database, Merchant, Reply, SCOPES, has, on_both_databases, rows, text, texts};

use crate::sync::changes;

on_both_databases!(
    a_checkpoint_is_made_moved_and_kept,
    only_genuine_cursors_of_the_feed_count,
    of_concurrent_acknowledgements_the_highest_stays,
    an_acknowledgement_is_repeated_under_its_key,
    after_a_restore_the_places_that_are_gone_are_refused
);

/// The cursor behind each of the first events, from the place before the first on.
async fn cursors(merchant: &Merchant, count: usize) -> Vec<String> {
    let mut cursors = vec![text(&merchant.api.get("/events").await.expect(200), "resume_cursor")];
    merchant.checkouts(count).await;
    for _ in 0..count {
        let last = cursors.last().unwrap();
        let page = merchant.api.get(&format!("/events?limit=1&cursor={last}")).await.expect(200);
        cursors.push(text(&page, "resume_cursor"));
    }
    cursors
}

pub(super) async fn acknowledge(merchant: &Merchant, body: &Value) -> Reply {
    merchant.api.post("/sync/checkpoints", body).await
}

fn at(cursor: &str) -> Value {
    json!({ "name": "projection", "cursor": cursor })
}

async fn a_checkpoint_is_made_moved_and_kept(database: Database) {
    let (authority, merchant) = Merchant::on(database, "consumer").await;
    let cursors = cursors(&merchant, 5).await;
    let made = acknowledge(&merchant, &at(&cursors[2])).await;
    assert_eq!(made.header("etag"), None);
    let made = made.expect(200);
    let expected = json!({
        "object": "checkpoint", "id": made["id"], "name": "projection", "stream": "events", "cursor": cursors[2],
        "position": 2, "lag_events": 3, "acknowledged_at": made["created_at"], "resource_version": 1,
        "livemode": false, "created_at": made["created_at"], "updated_at": made["created_at"],
    });
    assert_eq!(made, expected);
    assert!(text(&made, "id").starts_with("ckp_"));

    let moved = acknowledge(&merchant, &at(&cursors[4])).await.expect(200);
    let part = |row: &Value| {
        json!([row["id"], row["position"], row["lag_events"], row["resource_version"], row["cursor"]])
    };
    assert_eq!(part(&moved), json!([made["id"], 4, 1, 2, cursors[4]]));
    assert_eq!(moved["acknowledged_at"], moved["updated_at"]);
    assert_eq!(
        acknowledge(&merchant, &at(&cursors[4])).await.expect(200),
        moved,
        "the same place changes nothing"
    );
    for back in [0, 1, 3] {
        let refused = acknowledge(&merchant, &at(&cursors[back])).await;
        assert_eq!(refused.refused(409, "checkpoint_regression")["current_position"], 4);
    }
    let mut forced = at(&cursors[1]);
    forced["force"] = json!(true);
    let back = acknowledge(&merchant, &forced).await.expect(200);
    assert_eq!(part(&back), json!([made["id"], 1, 4, 3, cursors[1]]));
    // Events go on, the checkpoint stays.
    merchant.checkout().await;
    let listed = merchant.api.get("/sync/checkpoints").await.expect(200);
    assert_eq!(rows(&listed).len(), 1);
    assert_eq!(part(&listed["data"][0]), json!([made["id"], 1, 5, 3, cursors[1]]));
    assert_eq!(merchant.events().await.len(), 6, "nobody is told of checkpoints");
    authority.is_sound().await;
}

async fn only_genuine_cursors_of_the_feed_count(database: Database) {
    let (authority, merchant) = Merchant::on(database, "genuine").await;
    let other = Merchant::create(&authority, "foreign").await;
    for merchant in [&merchant, &other] {
        merchant.paid_order().await;
        merchant.paid_order().await;
    }
    let of = async |merchant: &Merchant, list: &str| {
        let page = merchant.api.get(list).await.expect(200);
        page["resume_cursor"].as_str().or(page["next_cursor"].as_str()).unwrap().to_owned()
    };
    let (events, orders) = (of(&merchant, "/events").await, of(&merchant, "/sync/orders").await);
    let filtered = of(&merchant, "/events?type=order.confirmed&limit=1").await;
    let live = authority.merchant(&merchant.issue_key("live", &SCOPES).await);
    let in_live = text(&live.get("/events").await.expect(200), "resume_cursor");
    let mut altered = events.clone();
    altered.replace_range(20..21, if &altered[20..21] == "A" { "B" } else { "A" });
    let no_good = [
        ("events", orders.clone()),
        ("orders", events.clone()),
        ("events", of(&other, "/events").await),
        ("orders", of(&other, "/sync/orders").await),
        ("events", of(&merchant, "/orders?limit=1").await),
        ("events", in_live),
        ("events", altered),
        ("events", format!("{events}=")),
        ("events", format!(" {events}")),
        ("events", String::new()),
        ("events", "A".repeat(47)),
        ("events", "A".repeat(100_000)),
    ];
    for (stream, cursor) in no_good {
        let body = json!({ "name": "x", "stream": stream, "cursor": cursor });
        acknowledge(&merchant, &body).await.refused(400, "invalid_cursor");
    }
    assert_eq!(merchant.api.get("/sync/checkpoints").await.expect(200)["data"], json!([]));
    // A filter leaves things out; the place is one of the whole feed all the same.
    let body = json!({ "name": "filtered", "cursor": filtered });
    assert_eq!(acknowledge(&merchant, &body).await.expect(200)["position"], 6);
    for (stream, cursor) in [("events", events), ("orders", orders)] {
        let body = json!({ "name": "both", "stream": stream, "cursor": cursor });
        let made = acknowledge(&merchant, &body).await.expect(200);
        has(&made, json!({ "stream": stream, "position": 12, "lag_events": 0 }));
    }
    // What is wrong with the body is told first, and all of it at once.
    let wrong = json!({ "name": "Not A Name", "cursor": 7, "position": 3 });
    let told = acknowledge(&merchant, &wrong).await.refused(422, "field_not_writable");
    let pointers = texts(told["errors"].as_array().unwrap(), "pointer");
    assert_eq!(pointers, ["/name", "/cursor", "/position"]);
}

async fn of_concurrent_acknowledgements_the_highest_stays(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "concurrent").await;
    let cursors = cursors(&merchant, 24).await;
    let replies = join_all(cursors.iter().rev().map(|cursor| {
        let merchant = merchant.clone();
        let body = at(cursor);
        async move { acknowledge(&merchant, &body).await }
    }))
    .await;
    let mut accepted = Vec::new();
    for reply in &replies {
        if reply.status == 200 {
            accepted.push((
                reply.json()["resource_version"].as_u64().unwrap(),
                reply.json()["position"].as_u64().unwrap(),
            ));
        } else {
            reply.refused(409, "checkpoint_regression");
        }
    }
    // In the order in which they were accepted, each is one version and further than the one before.
    accepted.sort_unstable();
    assert_eq!(
        accepted.iter().map(|(version, _)| *version).collect::<Vec<_>>(),
        Vec::from_iter(1..=accepted.len() as u64)
    );
    assert!(accepted.iter().map(|(_, position)| position).is_sorted(), "{accepted:?}");
    let page = merchant.api.get("/sync/checkpoints").await.expect(200);
    assert_eq!((rows(&page).len(), &page["data"][0]["position"]), (1, &json!(24)));
}

async fn an_acknowledgement_is_repeated_under_its_key(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "repeating").await;
    let cursors = cursors(&merchant, 3).await;
    let send =
        async |key: &str, cursor: &str| merchant.api.post_as(key, "/sync/checkpoints", &at(cursor)).await;
    let first = send("one", &cursors[1]).await.expect(200);
    send("two", &cursors[2]).await.expect(200);
    // The answer that was lost, though the checkpoint has moved on since.
    let again = send("one", &cursors[1]).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(200), first);
    send("one", &cursors[3]).await.refused(422, "idempotency_key_reused");
    // A refusal keeps nothing: the key may be used for what follows.
    send("three", &cursors[1]).await.refused(409, "checkpoint_regression");
    assert_eq!(send("three", &cursors[3]).await.expect(200)["position"], 3);
}

/// A consumer that went on from before the restore would be told that it is up to date, and would miss what comes.
async fn after_a_restore_the_places_that_are_gone_are_refused(database: Database) {
    let (mut authority, merchant) = Merchant::on(database, "restored").await;
    let before = cursors(&merchant, 2).await;
    acknowledge(&merchant, &at(&before[2])).await.expect(200);
    authority.terminate().await;
    let folder = tempfile::tempdir().unwrap();
    let backup = copy(authority.database_url(), folder.path(), "backup.db").await;
    authority.restart().await;
    let merchant = merchant.at(&authority);
    merchant.paid_order().await;
    let events = text(&merchant.api.get("/events").await.expect(200), "resume_cursor");
    let orders = text(&changes(&merchant, "").await, "resume_cursor");
    acknowledge(&merchant, &at(&events)).await.expect(200);

    authority.terminate().await;
    authority.set("AUTHORITY_DATABASE_URL", &backup);
    authority.restart().await;
    let merchant = merchant.at(&authority);
    for (stream, cursor) in [("events", &events), ("orders", &orders)] {
        let body = json!({ "name": "projection", "stream": stream, "cursor": cursor, "force": true });
        acknowledge(&merchant, &body).await.refused(400, "invalid_cursor");
    }
    // The checkpoint says from where to go on.
    let restored = merchant.api.get("/sync/checkpoints").await.expect(200)["data"][0].clone();
    assert_eq!((&restored["position"], &restored["lag_events"]), (&json!(2), &json!(0)));
    merchant.checkout().await;
    let path = format!("/events?cursor={}", text(&restored, "cursor"));
    let page = merchant.api.get(&path).await.expect(200);
    assert_eq!(page["data"][0]["sequence"], 3);
    let on = acknowledge(&merchant, &at(&text(&page, "resume_cursor"))).await.expect(200);
    assert_eq!((&on["position"], &on["lag_events"]), (&json!(3), &json!(0)));
    authority.is_sound().await;
}
