//! A20: a secret is shown to whoever repeats the request that made it, and lies nowhere in clear.

use serde_json::{Value, json};
use tests::{Api, Authority, Database, KEK, Merchant, Receiver, SCOPES, on_every_database, text};

use crate::a07_idempotency::answer;

on_every_database!(a20_secrets_are_repeated_but_not_stored);

async fn a20_secrets_are_repeated_but_not_stored(database: Database) {
    let (mut authority, merchant) =
        Merchant::on_with(database, &[("AUTHORITY_LOG", "trace")], "secrets").await;
    let receiver = Receiver::accepting().await;
    let body = json!({ "url": receiver.url("/hook") });
    let first = merchant.api.post_as("endpoint", "/webhook-endpoints", &body).await;
    let secret = text(&first.expect(201), "secret");
    let again = merchant.api.post_as("endpoint", "/webhook-endpoints", &body).await;
    assert!(again.is_replay());
    assert_eq!(answer(&again), answer(&first));

    let operator = authority.operator();
    let issue = |body: Value| {
        let (operator, path) = (operator.clone(), format!("/merchants/{}/api-keys", merchant.id));
        async move { operator.post_as("issue", &path, &body).await }
    };
    let key_body = json!({ "name": "k", "mode": "live", "scopes": ["orders:read"] });
    let issued = issue(key_body.clone()).await;
    let live_key = text(&issued.expect(201), "key");
    assert_eq!(answer(&issue(key_body).await), answer(&issued));

    // New ones in the place of old ones, which a database would rather forget than keep.
    let endpoint = text(&first.json(), "id");
    let rotate = format!("/webhook-endpoints/{endpoint}/rotate-secret");
    let rotated = text(&merchant.api.post(&rotate, &json!({})).await.expect(200), "secret");
    let spare = operator
        .post(
            &format!("/merchants/{}/api-keys", merchant.id),
            &json!({
                "name": "spare", "mode": "test", "scopes": ["orders:read"],
            }),
        )
        .await
        .expect(201);
    let rotate = format!("/api-keys/{}/rotate", text(&spare, "id"));
    let rotated_key = text(&operator.post(&rotate, &json!({})).await.expect(201), "key");
    let sink =
        operator.post("/sink", &json!({ "url": receiver.url("/sink"), "enabled_events": ["*"] })).await;
    let sink_secret = text(&sink.expect(201), "secret");

    // Make it write and log of everything: deliveries, refusals, unknown keys, a repeated body.
    merchant.paid_order().await;
    let stranger = Api::clone(&merchant.api).with_key(Some(&live_key));
    stranger.get("/events").await.refused(403, "insufficient_scope");
    merchant
        .api
        .with_key(Some(&format!("{}x", merchant.key)))
        .get("/orders")
        .await
        .refused(401, "invalid_api_key");
    merchant
        .api
        .post("/webhook-endpoints", &json!({ "secret": secret }))
        .await
        .refused(422, "field_not_writable");
    let arrivals = receiver.until("six events", |arrivals| arrivals.accepted("/hook") == 6).await;
    // During the overlap of a rotation the old secret and the new one both verify.
    assert!(arrivals.at("/hook").all(|arrival| arrival.verify(&secret).is_ok()));
    assert!(arrivals.at("/hook").all(|arrival| arrival.verify(&rotated).is_ok()));
    assert!(arrivals.at("/sink").all(|arrival| arrival.verify(&sink_secret).is_ok()));
    merchant.issue_key("test", &SCOPES).await;
    let operator_key = authority.operator_key().to_owned();
    let spare_key = text(&spare, "key");
    let secrets = [
        &*secret,
        &rotated,
        &sink_secret,
        &merchant.key,
        &live_key,
        &spare_key,
        &rotated_key,
        &operator_key,
        KEK,
    ];
    let metrics = authority.probe("/metrics").await;
    assert_eq!(metrics.status, 200);
    for secret in secrets {
        assert!(!metrics.text().contains(&secret[secret.len() - 30..]), "a secret is in the metrics");
    }
    let database = match database {
        Database::Sqlite => "authority.db",
        Database::Postgres | Database::Citus => "the dump of the database",
    };
    // With what SQLite has not yet moved out of its log, and without.
    check_left_behind(&authority, &[database, "authority.log"], &secrets);
    authority.terminate().await;
    check_left_behind(&authority, &[database, "authority.log"], &secrets);
}

fn check_left_behind(authority: &Authority, written: &[&str], secrets: &[&str]) {
    let files = authority.left_behind();
    for name in written {
        assert!(files.iter().any(|(file, bytes)| file == name && !bytes.is_empty()), "{name} is not there");
    }
    for (file, bytes) in &files {
        for secret in secrets {
            // Not even the part of it that a display would not show.
            let random = &secret[secret.len() - 30..];
            assert!(
                !bytes.windows(random.len()).any(|window| window == random.as_bytes()),
                "a secret is in {file}"
            );
        }
    }
}
