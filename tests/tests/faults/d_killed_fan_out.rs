//! Fault D: kill -9 during the fan-out of one event to four endpoints, three of which had answered 200. The peer sent
//! all four again.

use tests::damage::count;
use tests::{Answer, Authority, Database, Endpoint, Gate, Merchant, Receiver, eventually, on_both_databases};

on_both_databases!(
    an_outcome_that_is_written_is_never_sent_again,
    after_a_kill_only_what_was_not_written_is_sent_again,
);

const PATHS: [&str; 4] = ["/one", "/two", "/three", "/held"];

struct FanOut {
    authority: Authority,
    receiver: Receiver,
    merchant: Merchant,
    endpoints: Vec<Endpoint>,
    gate: Gate,
}

impl FanOut {
    /// Four endpoints for one event; the fourth never answers its first request.
    async fn start(database: Database) -> Self {
        let gate = Gate::closed();
        let held = gate.clone();
        let receiver = Receiver::start(move |arrival| {
            let answer = Answer::status(200);
            if arrival.path == "/held" && arrival.nth == 1 { answer.held_by(&held) } else { answer }
        })
        .await;
        let (authority, merchant) =
            Merchant::on_with(database, &[("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000")], "fan-out").await;
        let mut endpoints = Vec::new();
        for path in PATHS {
            endpoints.push(merchant.endpoint(&receiver.url(path), &["checkout.created"]).await);
        }
        Self { authority, receiver, merchant, endpoints, gate }
    }

    /// One event; returns when three receivers have been asked and will answer, and the fourth holds its request.
    async fn send(&self) {
        let before = self.receiver.arrivals().all.len();
        self.merchant.checkout().await;
        self.receiver.until("all four", |arrivals| arrivals.all.len() >= before + 4).await;
    }

    /// How many deliveries of one endpoint are written as succeeded, asked of the database itself.
    async fn written(&self, endpoint: &Endpoint) -> i64 {
        let sql = format!(
            "SELECT COUNT(*) FROM deliveries WHERE endpoint_id = '{}' AND status = 'succeeded'",
            endpoint.id
        );
        count(self.authority.database_url(), &sql).await
    }

    /// Starts the next process and waits until it has nothing left to do.
    async fn recover(&mut self) {
        self.gate.open();
        self.authority.leases_run_out().await;
        self.authority.restart().await;
        self.authority.nothing_pending().await;
    }

    fn arrivals(&self) -> [usize; 4] {
        let arrivals = self.receiver.arrivals();
        PATHS.map(|path| arrivals.at(path).count())
    }
}

async fn an_outcome_that_is_written_is_never_sent_again(database: Database) {
    let mut fan_out = FanOut::start(database).await;
    fan_out.send().await;
    for endpoint in &fan_out.endpoints[..3] {
        eventually("a written outcome", async || (fan_out.written(endpoint).await == 1).then_some(())).await;
    }
    fan_out.authority.kill().await;
    fan_out.recover().await;
    assert_eq!(fan_out.arrivals(), [1, 1, 1, 2], "nobody but the one that had not answered");
    for endpoint in &fan_out.endpoints {
        assert_eq!(fan_out.merchant.fates(endpoint).await, ["succeeded null 1"]);
    }
    fan_out.authority.is_sound().await;
}

/// Killed at once, ten times: what the database says after the kill decides.
async fn after_a_kill_only_what_was_not_written_is_sent_again(database: Database) {
    let mut fan_out = FanOut::start(database).await;
    let mut sent_again = 0;
    for round in 1..=10 {
        let before = fan_out.arrivals();
        fan_out.send().await;
        fan_out.authority.kill().await;
        let mut may_repeat = [false; 4];
        for (endpoint, may) in fan_out.endpoints.iter().zip(&mut may_repeat) {
            *may = fan_out.written(endpoint).await < round;
        }
        fan_out.recover().await;
        for ((now, before), may) in fan_out.arrivals().iter().zip(before).zip(may_repeat) {
            assert_eq!(now - before, if may { 2 } else { 1 }, "round {round}");
            sent_again += usize::from(may);
        }
        for endpoint in &fan_out.endpoints {
            assert_eq!(fan_out.written(endpoint).await, round, "none is lost");
        }
    }
    println!("{sent_again} of 40 deliveries were sent twice, in ten kills");
    fan_out.authority.is_sound().await;
}
