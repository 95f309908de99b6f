//! Deliveries that are late, fail, or go nowhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use serde_json::{Value, json};
use tests::{
    Answer, Authority, Database, Endpoint, Merchant, Receiver, eventually, has, on_both_databases, retries,
    text,
};

use super::{Section, said};

/// An endpoint whose receiver takes one delivery and answers nothing: the backlog names it, and it is disabled.
async fn the_endpoint_behind_a_backlog_is_found_and_disabled(database: Database) {
    let (overdue, late) =
        (Section::of("AuthorityDeliveriesOverdue"), Section::of("AuthorityFirstAttemptsLate"));
    let (authority, merchant) = Merchant::on(database, "backlog").await;
    let (receiver, gate) = Receiver::gated(200).await;
    let body = json!({ "url": receiver.url("/hook"), "enabled_events": ["*"], "max_in_flight": 1 });
    let endpoint = merchant.endpoint_with(body).await;
    merchant.checkouts(4).await;
    receiver.until("one in flight", |arrivals| arrivals.all.len() == 1).await;
    assert!(overdue.text.contains("$API/v1/operator/outbox"));
    let outbox = merchant.operator.get(&late.request("GET /outbox", &[])).await.expect(200);
    assert_eq!(
        (&outbox["pending"], &outbox["endpoints"][0]["endpoint_id"]),
        (&json!(4), &json!(endpoint.id))
    );
    assert!(outbox["oldest_pending_age_seconds"].is_number(), "{outbox}");

    let disable = late.request("POST /webhook-endpoints/:id/disable", &[&endpoint.id]);
    let disabled =
        merchant.operator.post(&disable, &json!({ "reason": "it holds up the others" })).await.expect(200);
    assert_eq!(disabled["disabled_reason"], "operator");
    gate.open();
    authority.nothing_pending().await;
    let mut fates = merchant.fates(&endpoint).await;
    fates.sort();
    let cancelled = "cancelled endpoint_disabled 0";
    assert_eq!(fates, [cancelled, cancelled, cancelled, "succeeded null 1"]);
}

/// A receiver that answers what it is told, of a merchant with one endpoint.
struct Shop {
    answers: Arc<AtomicU16>,
    receiver: Receiver,
    merchant: Merchant,
    endpoint: Endpoint,
}

impl Shop {
    async fn answering(authority: &Authority, status: u16) -> Self {
        let answers = Arc::new(AtomicU16::new(status));
        let told = Arc::clone(&answers);
        let receiver = Receiver::start(move |_| Answer::status(told.load(Ordering::SeqCst))).await;
        let merchant = Merchant::create(authority, "fails").await;
        let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
        Self { answers, receiver, merchant, endpoint }
    }

    async fn is_recovered(&self, section: &Section, authority: &Authority) {
        let since = ["--id", &self.endpoint.id, "--since", "2020-01-01T00:00:00Z"];
        let recovered = section.runs(authority, "authority endpoint recover", &since).await;
        assert!(recovered.status.success(), "{}", said(&recovered));
        self.receiver.until("what was missed", |arrivals| arrivals.accepted("/hook") == 1).await;
    }
}

/// A rotation that only one side has taken over: the attempts say 401, and what was missed is sent after the repair.
async fn what_receivers_answered_is_found(database: Database) {
    let section = Section::of("AuthorityAttemptsFail");
    let authority = Authority::on(database, &[retries("0,3600,3600")]).await;
    let shop = Shop::answering(&authority, 401).await;
    shop.merchant.checkout().await;
    let pending = section.request("GET /deliveries?status=pending", &[]);
    let waiting = eventually("the answer", async || {
        let page = shop.merchant.operator.get(&pending).await.expect(200);
        Some(page["data"][0].clone()).filter(|delivery| delivery["attempt_count"] == 1)
    })
    .await;
    let path = section.request("GET /deliveries/:id", &[&text(&waiting, "id")]);
    let attempts = shop.merchant.operator.get(&path).await.expect(200)["attempts"].clone();
    has(&attempts[0], json!({ "outcome": "http_error", "response_status": 401 }));
    let tail = section
        .runs(&authority, "authority delivery tail", &["--merchant", "fails", "--once", "--json"])
        .await;
    let line: Value = serde_json::from_slice(&tail.stdout).unwrap();
    assert_eq!(line["attempt"]["response_status"], 401);
    authority.is_sound().await;
    assert!(
        authority
            .probe("/metrics")
            .await
            .text()
            .contains("authority_delivery_attempts_total{class=\"rejected\"} 1")
    );
    section.code("rejected");
    shop.answers.store(200, Ordering::SeqCst);
    shop.is_recovered(&section, &authority).await;
}

/// A receiver that said 410 by mistake: enabled again, it gets what it missed.
async fn a_disabled_endpoint_is_enabled_and_catches_up(database: Database) {
    let section = Section::of("AuthorityEndpointsDisabled");
    let authority = Authority::on(database, &[]).await;
    let shop = Shop::answering(&authority, 410).await;
    shop.merchant.checkout().await;
    authority.nothing_pending().await;
    let of_whom = ["--merchant", &shop.merchant.id, "--mode", "test"];
    let listed = section.runs(&authority, "authority endpoint list --json", &of_whom).await;
    let endpoint: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(endpoint[section.code("disabled_reason")], "gone");
    shop.answers.store(200, Ordering::SeqCst);
    let enabled = section.runs(&authority, "authority endpoint enable", &["--id", &shop.endpoint.id]).await;
    assert!(enabled.status.success(), "{}", said(&enabled));
    shop.is_recovered(&section, &authority).await;
}

on_both_databases!(
    the_endpoint_behind_a_backlog_is_found_and_disabled,
    what_receivers_answered_is_found,
    a_disabled_endpoint_is_enabled_and_catches_up,
);
