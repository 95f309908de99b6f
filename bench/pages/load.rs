//! The load on the API: requests at the times of a plan, and how long each answer took.

use std::time::{Duration, Instant};

use bench_kit::connection::Connection;
use futures_util::future::join_all;
use tests::authority::Authority;
use tests::merchant::checkout_body;

use crate::asks::cursor;
use crate::fill::History;

/// Requests per second, of all clients.
pub(crate) const RATE: f64 = 200.0;
const CLIENTS: usize = 8;

/// One client: what it reads as the large merchant, and what it writes as the platform.
struct Client {
    merchant: Connection,
    operator: Connection,
    events: String,
}

/// Clients, each with connections that stay.
pub(crate) struct Load {
    clients: Vec<Client>,
    work: Work,
}

/// What they ask for.
struct Work {
    order: String,
    endpoint: String,
    checkouts: Vec<String>,
}

impl Load {
    pub(crate) async fn open(authority: &Authority, history: &History) -> Self {
        let mut clients = Vec::new();
        for operator in Connection::of_operator(authority, CLIENTS).await {
            let merchant = Connection::open(&authority.merchant_address(), Some(&history.large.key)).await;
            clients.push(Client { merchant, operator, events: String::new() });
        }
        let checkouts =
            history.others.iter().map(|other| format!("/v1/operator{}", other.platform_path("checkouts")));
        let (order, endpoint) = (history.order.clone(), history.good.clone());
        Self { clients, work: Work { order, endpoint, checkouts: checkouts.collect() } }
    }

    /// Asks for so long; how long each answer took, in ms. A client whose answer is late asks at once and does not make
    /// up for what it left out.
    pub(crate) async fn run(&mut self, time: Duration) -> Vec<f64> {
        let begun = Instant::now();
        let pause = Duration::from_secs_f64(CLIENTS as f64 / RATE);
        let work = &self.work;
        let clients = self.clients.iter_mut().enumerate().map(async |(number, client)| {
            let mut took = Vec::new();
            let mut due = begun + pause.mul_f64(number as f64 / CLIENTS as f64);
            for turn in number.. {
                tokio::time::sleep_until(due.into()).await;
                if begun.elapsed() >= time {
                    break;
                }
                let asked = Instant::now();
                work.ask(client, turn).await;
                took.push(asked.elapsed().as_secs_f64() * 1e3);
                due = (due + pause).max(Instant::now());
            }
            took
        });
        join_all(clients).await.into_iter().flatten().collect()
    }
}

impl Work {
    /// Of ten requests four read an order, two a page of events further along, one a page of deliveries, and three open
    /// a checkout of another merchant, whose event is delivered.
    async fn ask(&self, client: &mut Client, turn: usize) {
        match turn % 10 {
            0 | 3 | 5 | 8 => {
                let number = format!("{}-{}", self.order, 1 + turn % 1000);
                client.merchant.get(&format!("/v1/merchant/orders/{number}")).await;
            }
            1 | 6 => {
                let page =
                    client.merchant.get(&format!("/v1/merchant/events?limit=25{}", client.events)).await;
                client.events = cursor(&page).map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
            }
            4 => {
                let path = format!("/v1/merchant/webhook-endpoints/{}/deliveries?limit=25", self.endpoint);
                client.merchant.get(&path).await;
            }
            _ => {
                let path = &self.checkouts[turn % self.checkouts.len()];
                client.operator.post(path, checkout_body().to_string()).await;
            }
        }
    }
}
