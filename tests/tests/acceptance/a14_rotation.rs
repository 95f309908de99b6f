//! A14: rotating signing secrets (contract 4.10): two candidates during the overlap, the newest first; one after;
//! `force`, `overlap_seconds: 0`, and a second rotation.

use serde_json::{Value, json};
use tests::{Arrival, Authority, Database, Merchant, Receiver, Reply, has, ms, on_every_database, text};

/// The path of an endpoint.
fn at(id: &str) -> String {
    format!("/webhook-endpoints/{id}")
}

/// Which of `secrets` signed, in the order of the candidates.
fn signed_by(arrival: &Arrival, secrets: &[&str]) -> Vec<usize> {
    let candidates = arrival.header("service-signature").split(',');
    let timestamp = arrival.header("service-timestamp").as_bytes();
    let signature = |secret: &str| {
        let digest = verify_core::secret::Secret::parse(secret).unwrap().sign(timestamp, &arrival.body);
        format!("v1={}", std::str::from_utf8(&digest).unwrap())
    };
    let of = |candidate: &str| secrets.iter().position(|secret| signature(secret) == candidate).unwrap();
    candidates.map(of).collect()
}

struct Rotating {
    authority: Authority,
    receiver: Receiver,
    merchant: Merchant,
    endpoint: String,
}

impl Rotating {
    async fn start(database: Database) -> (Self, String) {
        let (authority, merchant) = Merchant::on(database, "rotating").await;
        let receiver = Receiver::accepting().await;
        let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
        (Self { authority, receiver, merchant, endpoint: endpoint.id }, endpoint.secret)
    }

    async fn rotate(&self, body: Value) -> Reply {
        self.merchant.api.post(&format!("{}/rotate-secret", at(&self.endpoint)), &body).await
    }

    async fn retire(&self) -> Value {
        let path = format!("{}/retire-secret", at(&self.endpoint));
        self.merchant.api.post(&path, &json!({})).await.expect(200)
    }

    /// Sends a test; which secrets signed it.
    async fn test(&self, secrets: &[&str]) -> Vec<usize> {
        let before = self.receiver.arrivals().all.len();
        self.merchant.api.post(&format!("{}/test", at(&self.endpoint)), &json!({})).await.expect(202);
        let arrivals = self.receiver.until("the test", |arrivals| arrivals.all.len() > before).await;
        signed_by(&arrivals.all[before], secrets)
    }

    async fn overlap_alerts(&self) -> usize {
        let health = self.merchant.health().await;
        assert_eq!(health["status"], "healthy", "an overlap is no illness");
        let alerts = health["alerts"].as_array().unwrap();
        alerts
            .iter()
            .filter(|alert| alert["code"] == "secret_overlap_open" && alert["severity"] == "info")
            .count()
    }
}

async fn a14_two_candidates_during_the_overlap_the_newest_first(database: Database) {
    let (rotating, first) = Rotating::start(database).await;
    assert_eq!(rotating.test(&[&first]).await, [0]);
    let rotated = rotating.rotate(json!({})).await;
    assert_eq!(rotated.header("etag"), Some("\"2\""));
    let rotated = rotated.expect(200);
    let second = text(&rotated, "secret");
    assert!(second.starts_with("whsec_") && second.len() == 49 && second != first);
    assert_eq!(text(&rotated, "secret_hint"), format!("…{}", &second[46..]));
    let overlap = ms(&rotated, "previous_secret_expires_at") - ms(&rotated, "secret_rotated_at");
    assert_eq!(overlap, 86_400_000);
    assert_eq!(rotating.test(&[&second, &first]).await, [0, 1]);
    assert_eq!(rotating.overlap_alerts().await, 1);
    // A further one has to wait, or to say that it means it.
    for body in [json!({}), json!({ "overlap_seconds": 0 }), json!({ "force": false })] {
        rotating.rotate(body).await.refused(409, "rotation_in_progress");
    }
    assert_eq!(rotating.test(&[&second, &first]).await, [0, 1]);
    let third =
        text(&rotating.rotate(json!({ "force": true, "overlap_seconds": 600 })).await.expect(200), "secret");
    assert_eq!(rotating.test(&[&third, &second, &first]).await, [0, 1]);
    let retired = rotating.retire().await;
    has(&retired, json!({ "previous_secret_expires_at": null, "resource_version": 4 }));
    assert_eq!(retired.get("secret"), None);
    assert_eq!(rotating.test(&[&third, &second]).await, [0]);
    assert_eq!(rotating.overlap_alerts().await, 0);
    assert_eq!(rotating.retire().await["resource_version"], 4, "nothing to retire");
    // After a leak the old one goes at once.
    let fourth = rotating.rotate(json!({ "overlap_seconds": 0 })).await.expect(200);
    assert_eq!(fourth["previous_secret_expires_at"], Value::Null);
    assert_eq!(rotating.test(&[&text(&fourth, "secret"), &third]).await, [0]);
    for body in
        [json!({ "overlap_seconds": 604_801 }), json!({ "overlap_seconds": -1 }), json!({ "force": "yes" })]
    {
        rotating.rotate(body).await.refused(422, "validation_failed");
    }
    // No secret is shown again, anywhere.
    for path in [at(&rotating.endpoint), "/webhook-endpoints".to_owned(), "/integration-health".to_owned()] {
        let reply = rotating.merchant.api.get(&path).await;
        assert!(!reply.text().contains("whsec_"), "{path}");
    }
    assert!(!rotating.authority.log().contains("whsec_"));
}

/// To the millisecond: what has run out signs nothing and shows nowhere, whether or not it was removed yet.
async fn a14_an_overlap_ends_by_the_clock(database: Database) {
    let (service, merchant) = Merchant::inside(database, &[], "overlapping").await;
    let receiver = Receiver::accepting().await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let path = at(&endpoint.id);
    let rotated =
        merchant.api.post(&format!("{path}/rotate-secret"), &json!({ "overlap_seconds": 600 })).await;
    let second = text(&rotated.expect(200), "secret");
    let secrets = [&*second, &endpoint.secret];
    let test = async || {
        merchant.api.post(&format!("{path}/test"), &json!({})).await.expect(202);
        service.play_out().await;
        signed_by(receiver.arrivals().all.last().unwrap(), &secrets)
    };
    service.clock.turn(600_000 - 1);
    assert_eq!(test().await, [0, 1]);
    service.clock.turn(1);
    assert_eq!(test().await, [0]);
    let now = merchant.endpoint_now(&endpoint).await;
    assert_eq!((&now["previous_secret_expires_at"], &now["resource_version"]), (&Value::Null, &json!(2)));
    let health = merchant.health().await;
    assert_eq!((&health["alerts"], &health["status"]), (&json!([]), &json!("healthy")));
    // A further one is possible again.
    let third = merchant.api.post(&format!("{path}/rotate-secret"), &json!({})).await.expect(200);
    merchant.api.post(&format!("{path}/test"), &json!({})).await.expect(202);
    service.play_out().await;
    let signed = signed_by(receiver.arrivals().all.last().unwrap(), &[&text(&third, "secret"), &second]);
    assert_eq!(signed, [0, 1]);
    service.stop().await;
}

async fn a14_a_repeated_rotation_shows_the_same_secret(database: Database) {
    let (rotating, old) = Rotating::start(database).await;
    let path = format!("{}/rotate-secret", at(&rotating.endpoint));
    let rotate = async |body: Value| rotating.merchant.api.post_as("rotate-1", &path, &body).await;
    let first = rotate(json!({})).await;
    let again = rotate(json!({})).await;
    assert_eq!((again.header("idempotent-replayed"), again.header("etag")), (Some("true"), Some("\"2\"")));
    assert_eq!(first.expect(200), again.expect(200));
    rotate(json!({ "force": true })).await.refused(422, "idempotency_key_reused");
    assert_eq!(rotating.test(&[&text(&first.json(), "secret"), &old]).await, [0, 1]);
}

on_every_database!(
    a14_two_candidates_during_the_overlap_the_newest_first,
    a14_an_overlap_ends_by_the_clock,
    a14_a_repeated_rotation_shows_the_same_secret,
);
