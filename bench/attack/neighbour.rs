//! Another merchant that goes about its business: it reads an order, a page of events, and opens a checkout, again and
//! again, on connections of its own. Every checkout is an event for its endpoint, whose host is a name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bench_kit::figures::Percentiles;
use futures_util::future::join_all;
use http::Method;
use serde_json::Value;
use tests::authority::Authority;
use tests::http::Api;
use tests::merchant::{Merchant, checkout_body, text};
use tests::receiver::{Answer, Receiver};

/// Requests in flight.
const CLIENTS: usize = 4;
/// Between two requests of a client: the neighbour is no load.
const PAUSE: Duration = Duration::from_millis(5);

pub(crate) struct Neighbour {
    merchant: Merchant,
    order: String,
    receiver: Receiver,
    /// When the event of each checkout came first.
    arrived: Arc<Mutex<HashMap<String, Instant>>>,
    /// Each has its own connection.
    clients: Vec<(Api, Api)>,
}

/// How long it waited, in ms.
pub(crate) struct Waited {
    /// For its answers.
    pub(crate) answers: Percentiles,
    /// From the request for a checkout until the event arrived.
    pub(crate) arrivals: Percentiles,
    /// Requests that were answered 503.
    pub(crate) refused: usize,
}

impl Neighbour {
    pub(crate) async fn open(authority: &Authority) -> Self {
        let merchant = Merchant::create(authority, "neighbour").await;
        let order = merchant.paid_order().await;
        let arrived = Arc::<Mutex<HashMap<String, Instant>>>::default();
        let heard = Arc::clone(&arrived);
        let receiver = Receiver::start(move |arrival| {
            let event: Value = serde_json::from_slice(&arrival.body).unwrap();
            heard.lock().unwrap().entry(text(&event["data"]["object"], "id")).or_insert_with(Instant::now);
            Answer::status(200)
        });
        let receiver = receiver.await;
        // A name, so that it is looked up as those of the attackers are.
        let url = receiver.url("/hook").replace("127.0.0.1", "localhost");
        merchant.endpoint(&url, &["checkout.*"]).await;
        let clients =
            (0..CLIENTS).map(|_| (authority.merchant(&merchant.key), authority.operator())).collect();
        Self { merchant, order, receiver, arrived, clients }
    }

    pub(crate) async fn measure(&self, time: Duration) -> Waited {
        let done = join_all(self.clients.iter().map(|(api, operator)| self.work(api, operator, time))).await;
        let asked: Vec<Asked> = done.into_iter().flatten().collect();
        let refused = asked.iter().filter(|asked| asked.refused).count();
        let answers = Percentiles::of(asked.iter().map(|asked| ms(asked.took)).collect());
        let made: Vec<(String, Instant)> =
            asked.into_iter().filter_map(|asked| Some((asked.checkout?, asked.begun))).collect();
        let all_arrived = || {
            let arrived = self.arrived.lock().unwrap();
            made.iter().all(|(checkout, _)| arrived.contains_key(checkout))
        };
        self.receiver.until("the neighbour's events", |_| all_arrived()).await;
        let arrived = self.arrived.lock().unwrap();
        let arrivals = made.iter().map(|(checkout, begun)| ms(arrived[checkout].duration_since(*begun)));
        Waited { answers, arrivals: Percentiles::of(arrivals.collect()), refused }
    }

    /// What one client does.
    async fn work(&self, api: &Api, operator: &Api, time: Duration) -> Vec<Asked> {
        let started = Instant::now();
        let mut all = Vec::new();
        for round in 0.. {
            if started.elapsed() >= time {
                break;
            }
            let call = match round % 3 {
                0 => api.call(Method::GET, &format!("/orders/{}", self.order)),
                1 => api.call(Method::GET, "/events?limit=25"),
                _ => operator
                    .call(Method::POST, &self.merchant.platform_path("checkouts"))
                    .json(&checkout_body()),
            };
            let begun = Instant::now();
            let reply = call.send().await;
            let (took, status) = (begun.elapsed(), reply.status);
            assert!(matches!(status, 200 | 201 | 503), "the neighbour is answered {status}");
            let checkout = (status == 201).then(|| text(&reply.json(), "id"));
            all.push(Asked { begun, took, checkout, refused: status == 503 });
            tokio::time::sleep(PAUSE).await;
        }
        all
    }
}

/// One request.
struct Asked {
    begun: Instant,
    took: Duration,
    /// What it made.
    checkout: Option<String>,
    refused: bool,
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
