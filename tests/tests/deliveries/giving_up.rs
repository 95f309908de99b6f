//! An endpoint that keeps failing for five days is given up by time alone too (contract 7.5, 15.6). By attempts it is
//! A12.

use std::sync::Arc;

use authority::app::merchant::operator_keys::operator_key_create;
use authority::dice::SystemDice;
use authority::service::Service;
use authority_domain::OperatorScope;
use serde_json::json;
use tests::authority::Database;
use tests::clock::HandClock;
use tests::http::Api;
use tests::merchant::{Merchant, ServiceUrls};
use tests::on_both_databases;
use tests::receiver::{Answer, Receiver};
use tests::service::{new_database, serve};
use tokio::sync::watch;

use crate::holding_back::{HOUR_MS, failures, fares};

on_both_databases!(time_alone_disables);

/// A service that is started again on the same database.
struct Run {
    service: Service,
    operator_key: String,
}

impl Run {
    async fn start(url: &str, clock: &Arc<HandClock>) -> Self {
        let variables = [("AUTHORITY_RETRY_SCHEDULE", "0,0,0,0")];
        let service = serve(url, Arc::clone(clock), Arc::default(), &variables).await;
        let (store, scopes) = (&service.app.store, OperatorScope::ALL.to_vec());
        let issued =
            operator_key_create(store, &**clock, &SystemDice, "tests".to_owned(), scopes).await.unwrap();
        Self { service, operator_key: issued.key.to_string() }
    }

    /// The same merchant, asked here.
    fn asked_by(&self, merchant: &Merchant) -> Merchant {
        Merchant { api: self.merchant(&merchant.key), operator: self.operator(), ..merchant.clone() }
    }
}

impl ServiceUrls for Run {
    fn operator(&self) -> Api {
        let address = watch::Sender::new(Some(format!("http://{}", self.service.operator_address)));
        Api::new(address.subscribe(), "/v1/operator", &self.operator_key)
    }

    fn merchant(&self, key: &str) -> Api {
        let address = watch::Sender::new(Some(format!("http://{}", self.service.merchant_address)));
        Api::new(address.subscribe(), "/v1/merchant", key)
    }
}

/// Every delivery has used up its attempts long before the five days are over, and nothing new comes: no attempt will
/// ever find the endpoint out.
async fn time_alone_disables(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let (url, clock) = (new_database(database, &folder).await, HandClock::standing());
    let run = Run::start(&url, &clock).await;
    let receiver = Receiver::start(|_| Answer::status(500)).await;
    let merchant = Merchant::create(&run, "acme").await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    for _ in 0..3 {
        merchant.checkout().await;
    }
    fares(&merchant, &endpoint, "four attempts each", |now| failures(now) == 12).await;
    run.service.stop().await;
    clock.turn(120 * HOUR_MS - 1);
    let run = Run::start(&url, &clock).await;
    let merchant = run.asked_by(&merchant);
    let now = fares(&merchant, &endpoint, "a day", |now| now["health"]["state"] == "failing").await;
    assert_eq!(now["status"], "enabled");
    run.service.stop().await;
    clock.turn(1);
    let run = Run::start(&url, &clock).await;
    let merchant = run.asked_by(&merchant);
    let now = fares(&merchant, &endpoint, "five days", |now| now["status"] == "disabled").await;
    assert_eq!((&now["disabled_reason"], failures(&now)), (&json!("failing"), 12));
    let health = merchant.api.get("/integration-health").await.expect(200);
    let alerts: Vec<_> = health["alerts"].as_array().unwrap().iter().map(|alert| &alert["code"]).collect();
    assert_eq!(alerts, ["endpoint_disabled"], "nothing is said twice");
    assert_eq!(receiver.arrivals().all.len(), 12);
    run.service.stop().await;
}
