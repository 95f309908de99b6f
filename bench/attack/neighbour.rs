//! Another merchant that goes about its business: it reads an order, a page of events, and opens a checkout, again and
//! again, on connections of its own.

use std::time::{Duration, Instant};

use bench_kit::figures::percentile;
use futures_util::future::join_all;
use http::Method;
use tests::authority::Authority;
use tests::http::Api;
use tests::merchant::{Merchant, checkout_body};

/// Requests in flight.
const CLIENTS: usize = 4;
/// Between two requests of a client: the neighbour is no load.
const PAUSE: Duration = Duration::from_millis(5);

pub(crate) struct Neighbour {
    merchant: Merchant,
    order: String,
    /// Each has its own connection.
    clients: Vec<(Api, Api)>,
}

/// How long its requests took, in milliseconds.
pub(crate) struct Waited {
    pub(crate) p50: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
    /// Requests that were answered 503.
    pub(crate) refused: usize,
}

impl Neighbour {
    pub(crate) async fn open(authority: &Authority) -> Self {
        let merchant = Merchant::create(authority, "neighbour").await;
        let order = merchant.paid_order().await;
        let clients =
            (0..CLIENTS).map(|_| (authority.merchant(&merchant.key), authority.operator())).collect();
        Self { merchant, order, clients }
    }

    pub(crate) async fn measure(&self, time: Duration) -> Waited {
        let started = Instant::now();
        let clients = self.clients.iter().map(async |(api, operator)| {
            let (mut took, mut refused) = (Vec::new(), 0);
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
                let status = call.send().await.status;
                took.push(begun.elapsed().as_secs_f64() * 1e3);
                assert!(matches!(status, 200 | 201 | 503), "the neighbour is answered {status}");
                refused += usize::from(status == 503);
                tokio::time::sleep(PAUSE).await;
            }
            (took, refused)
        });
        let done = join_all(clients).await;
        let refused = done.iter().map(|(_, refused)| refused).sum();
        let mut took: Vec<f64> = done.into_iter().flat_map(|(took, _)| took).collect();
        took.sort_unstable_by(f64::total_cmp);
        let [p50, p95, p99] = [50, 95, 99].map(|share| percentile(&took, share));
        Waited { p50, p95, p99, refused }
    }
}
