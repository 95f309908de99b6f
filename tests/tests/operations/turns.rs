//! Nothing is everybody's (contract 21.2): no request waits for a shard whose merchants it does not concern.

use std::collections::BTreeSet;

use http::Method;
use serde_json::json;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Executor as _};
use tests::partners::{connect, disconnect, share};
use tests::{Authority, Merchant, Receiver, eventually, report_body, text};

/// Holds the turn of a shard that no merchant is in, until the connection is dropped.
async fn hold_a_turn(url: &str) -> PgConnection {
    let nobodys = "SELECT shard FROM turns WHERE shard < 64 AND shard NOT IN (SELECT shard_of(id) FROM merchants) \
                   ORDER BY shard LIMIT 1 FOR UPDATE";
    let (holder, held) = hold(url, nobodys).await;
    assert_eq!(held, 1);
    holder
}

/// Holds the turns that the query locks, until the connection is dropped, and says how many they are.
async fn hold(url: &str, query: &'static str) -> (PgConnection, usize) {
    let mut holder = url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    holder.execute("BEGIN").await.unwrap();
    let held = holder.fetch_all(query).await.unwrap();
    (holder, held.len())
}

/// A leaked key ends at once, whichever shards are stalled: the operator's own, too.
#[tokio::test]
async fn operator_keys_wait_for_no_turn() {
    let database = postgres_cluster::database().await;
    let authority = Authority::start(&[("AUTHORITY_DATABASE_URL", database.as_str())]).await;
    let (_held, turns) = hold(&database, "SELECT shard FROM turns ORDER BY shard FOR UPDATE").await;
    assert_eq!(turns, 65);
    let made = authority.new_operator_key("leaked", &["operator:read"]).await;
    let leaked = authority.operator().with_key(made["key"].as_str());
    leaked.get("/merchants").await.expect(200);
    authority.revoke_operator_key(&text(&made, "id")).await;
    eventually("the end of the key", async || {
        let reply = leaked.get("/merchants").await;
        (reply.status == 401).then(|| reply.refused(401, "invalid_api_key"))
    })
    .await;
}

/// The secret is shown once: a turn that is not to be had delays the answer and does not take it away.
#[tokio::test]
async fn who_makes_the_sink_gets_its_secret_though_a_turn_is_not_to_be_had() {
    let database = postgres_cluster::database().await;
    let authority = Authority::start(&[("AUTHORITY_DATABASE_URL", database.as_str())]).await;
    let receiver = Receiver::accepting().await;
    let _held = hold_a_turn(&database).await;
    let body = json!({ "url": receiver.url("/sink"), "enabled_events": ["*"] });
    let made = authority.operator().post("/sink", &body).await.expect(201);
    assert!(text(&made, "secret").starts_with("whsec_"), "{made}");
}

/// Each of these requests is rare. Had one of them to wait for all turns, those behind it would wait with it.
#[tokio::test]
async fn rare_requests_take_the_turns_of_whom_they_concern() {
    let database = postgres_cluster::database().await;
    let authority = Authority::start(&[("AUTHORITY_DATABASE_URL", database.as_str())]).await;
    let operator = authority.operator();
    let (one, two) = (Merchant::create(&authority, "one").await, Merchant::create(&authority, "two").await);
    let receiver = Receiver::accepting().await;
    let endpoint = one.endpoint(&receiver.url("/hooks"), &["*"]).await;
    let order = one.paid_order().await;
    let _held = hold_a_turn(&database).await;

    // The platform's merchants and keys.
    operator
        .post("/merchants", &json!({ "slug": "three", "name": "Three", "default_currency": "USD" }))
        .await
        .expect(201);
    let path = format!("/merchants/{}", one.id);
    operator.patch(&path, &json!({ "name": "Uno" })).await.expect(200);
    let key = json!({ "name": "spare", "mode": "test", "scopes": ["orders:read"] });
    let key = operator.post(&format!("{path}/api-keys"), &key).await.expect(201);
    let of_key = format!("/api-keys/{}", text(&key, "id"));
    operator.post(&format!("{of_key}/rotate"), &json!({ "overlap_seconds": 60 })).await.expect(201);
    let reason = json!({ "reason": "seen elsewhere" });
    operator.post(&format!("{of_key}/revoke"), &reason).await.expect(200);
    operator.post("/api-keys/key_none/revoke", &reason).await.refused(404, "not_found");

    // Endpoints, by the operator.
    let of_endpoint = endpoint.path("");
    operator.patch(&of_endpoint, &json!({ "max_in_flight": 3 })).await.expect(200);
    for switch in ["disable", "enable"] {
        operator.post(&format!("{of_endpoint}/{switch}"), &reason).await.expect(200);
    }

    // Alerts.
    let payment = one.payment(&one.checkout().await, "automatic").await;
    let mut greedy = report_body("succeeded", "greedy");
    greedy["amount_captured"] = json!(5301);
    let path = format!("/payments/{}/reports", text(&payment, "id"));
    operator.post(&path, &greedy).await.refused(409, "processor_conflict");
    let alerts = operator.get("/alerts?status=open").await.expect(200);
    let of_alert = format!("/alerts/{}/close", text(&alerts["data"][0], "id"));
    operator.post(&of_alert, &json!({})).await.expect(200);

    // Partners.
    let connection = connect(&one, &two).await;
    share(&one, &order, &connection).await;
    disconnect(&two, &connection).await;
    let connection = connect(&two, &one).await;
    share(&one, &order, &connection).await;
    let close = json!({ "status": "closed" });
    let path = format!("/merchants/{}", two.id);
    operator.patch(&path, &close).await.expect(200);
    let ended = one.api.get(&format!("/partner-connections/{connection}")).await.expect(200);
    assert_eq!(ended["status"], "revoked");
    eventually("the share's last event", async || {
        let events = one.events().await;
        let ended = events.iter().filter(|event| event["type"] == "order.share_revoked").count();
        (ended == 2).then_some(())
    })
    .await;
    authority.is_sound().await;
}

/// Merchants' transactions read the platform's endpoint without its turn. Who makes, changes or enables it is answered
/// when all of them have ended that may not know it, and nobody else waits.
#[tokio::test]
async fn the_platforms_endpoint_is_known_to_everybody_when_it_is_answered() {
    let database = postgres_cluster::database().await;
    let authority = Authority::start(&[("AUTHORITY_DATABASE_URL", database.as_str())]).await;
    let merchant = Merchant::create(&authority, "one").await;
    let receiver = Receiver::accepting().await;
    let operator = authority.operator();
    let mut watcher = database.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    let waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
                 AND wait_event_type = 'Lock' AND query LIKE '%FROM turns%' AND pid <> pg_backend_pid()";
    let sink = json!({ "url": receiver.url("/sink"), "enabled_events": ["order.*"] });
    let (wider, reason) = (json!({ "enabled_events": ["*"] }), json!({ "reason": "maintenance" }));
    let mut id = String::new();
    for (nth, (path, body)) in
        [("/sink", sink), ("/sink", wider), ("enable", reason.clone())].into_iter().enumerate()
    {
        let (path, method) = match nth {
            0 => (path.to_owned(), Method::POST),
            1 => (path.to_owned(), Method::PATCH),
            _ => {
                operator.post(&format!("/webhook-endpoints/{id}/disable"), &reason).await.expect(200);
                (format!("/webhook-endpoints/{id}/{path}"), Method::POST)
            }
        };
        let held = hold_a_turn(&database).await;
        let answer = tokio::spawn(operator.call(method, &path).json(&body).send());
        while sqlx::query_scalar::<_, i64>(waits).fetch_one(&mut watcher).await.unwrap() == 0 {
            assert!(!answer.is_finished(), "a transaction is under way that may not know it");
        }
        merchant.paid_order().await;
        drop(held);
        id = text(&answer.await.unwrap().json(), "id");
        authority.nothing_pending().await;
    }
    let arrived = receiver.arrivals().types_at("/sink");
    assert_eq!(arrived.iter().filter(|arrived| *arrived == "checkout.created").count(), 2, "{arrived:?}");
}

/// Each shard's housekeeping is a transaction of its own: one that cannot begin keeps no other waiting.
#[tokio::test]
async fn what_is_due_in_one_shard_waits_for_no_other() {
    let database = postgres_cluster::database().await;
    let variables = [("AUTHORITY_DATABASE_URL", database.as_str())];
    let authority = Authority::start(&variables).await;
    let mut beside = database.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    let mut shards = BTreeSet::new();
    for nth in 0.. {
        let merchant = Merchant::create(&authority, &format!("shop-{nth}")).await;
        let endpoint = merchant.endpoint("http://127.0.0.1:9/hook", &["*"]).await;
        merchant.api.post(&endpoint.path("/rotate-secret"), &json!({})).await.expect(200);
        let shard = sqlx::query_scalar("SELECT shard_of($1)::BIGINT").bind(&merchant.id);
        shards.insert(shard.fetch_one(&mut beside).await.unwrap());
        if shards.len() == 2 {
            break;
        }
    }
    let shards: Vec<i64> = shards.into_iter().collect();
    let mut holder = database.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    holder.execute("BEGIN").await.unwrap();
    let hold = sqlx::query("SELECT shard FROM turns WHERE shard = $1 FOR UPDATE").bind(shards[1]);
    hold.execute(&mut holder).await.unwrap();
    beside.execute("UPDATE endpoint_secrets SET expires_at = 1 WHERE expires_at IS NOT NULL").await.unwrap();
    let mut expired = async |shard: i64| -> i64 {
        let count = "SELECT COUNT(*) FROM endpoint_secrets WHERE expires_at = 1 AND shard = $1";
        sqlx::query_scalar(count).bind(shard).fetch_one(&mut beside).await.unwrap()
    };
    // A service begins with a round of housekeeping.
    let _begins = Authority::start(&variables).await;
    eventually("the end of the secrets in the other shard", async || {
        (expired(shards[0]).await == 0).then_some(())
    })
    .await;
    assert_ne!(expired(shards[1]).await, 0, "nobody else has its turn");
}
