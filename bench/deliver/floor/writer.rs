//! The writer: whatever waits goes into one transaction, requests and outcomes alike.
//!
//! On SQLite one task does both. On PostgreSQL the outcomes have a connection of their own, so that a request never
//! waits for them.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::{mpsc, oneshot};

use super::database::Connection;
use super::sender::{Outcome, Parcel, Sender};
use super::template::Template;
use super::{Merchant, Setting};

/// What is written in one transaction at most.
const BATCH_MAX: usize = 512;

/// A request that waits for its commit.
pub(super) struct Asked {
    pub(super) merchant: usize,
    /// Gets the answer's body.
    pub(super) committed: oneshot::Sender<String>,
}

/// What there is to be written.
pub(super) enum Work {
    Checkout(Asked),
    Outcome(Outcome),
}

/// A checkout with its event and deliveries, as rows.
pub(super) struct Made {
    pub(super) merchant: Arc<str>,
    pub(super) checkout: String,
    pub(super) record: String,
    pub(super) event: Arc<str>,
    pub(super) body: Arc<str>,
    pub(super) sequence: i64,
    pub(super) audit: String,
    pub(super) request: String,
    pub(super) at: i64,
    pub(super) deliveries: Vec<NewDelivery>,
}

pub(super) struct NewDelivery {
    pub(super) id: String,
    pub(super) endpoint: Arc<str>,
    pub(super) place: i64,
}

/// Where a merchant's counters stand.
struct Shop {
    id: Arc<str>,
    last_sequence: i64,
    endpoints: Vec<Arc<super::sender::Endpoint>>,
    last_place: i64,
}

struct Writer {
    connection: Connection,
    shops: Vec<Shop>,
    record: Template,
    body: Template,
    sender: Arc<Sender>,
    /// Names what must be unique.
    next: u64,
}

/// Starts the writing tasks; what is sent to the door is written.
pub(super) async fn start(setting: &Setting) -> mpsc::UnboundedSender<Work> {
    let (work, queue) = mpsc::unbounded_channel();
    let mut connection = Connection::open(&setting.database).await;
    let first = connection.first().await;
    let outcomes = match &connection {
        // Nobody writes beside the first connection to a file.
        Connection::Sqlite(_) => work.clone(),
        Connection::Postgres(_) => {
            let (outcomes, queue) = mpsc::unbounded_channel();
            let second = Connection::open(&setting.database).await;
            let writer = Writer::new(second, setting, &first, Sender::new(outcomes.clone()));
            tokio::spawn(writer.run(queue));
            outcomes
        }
    };
    let writer = Writer::new(connection, setting, &first, Sender::new(outcomes));
    tokio::spawn(writer.run(queue));
    work
}

impl Writer {
    fn new(
        connection: Connection,
        setting: &Setting,
        (record, body, last_sequence): &(String, String, i64),
        sender: Arc<Sender>,
    ) -> Self {
        let shop = |merchant: &Merchant| Shop {
            id: merchant.id.as_str().into(),
            last_sequence: *last_sequence,
            last_place: *last_sequence,
            endpoints: merchant.endpoints.iter().map(super::sender::Endpoint::new).collect(),
        };
        Self {
            connection,
            shops: setting.merchants.iter().map(shop).collect(),
            record: Template::new(record),
            body: Template::new(body),
            sender,
            next: 1 << 32,
        }
    }

    async fn run(mut self, mut queue: mpsc::UnboundedReceiver<Work>) {
        let mut waiting = Vec::with_capacity(BATCH_MAX);
        while queue.recv_many(&mut waiting, BATCH_MAX).await > 0 {
            let (mut made, mut asked, mut outcomes, mut parcels) = (vec![], vec![], vec![], vec![]);
            let at = now_ms();
            let lease: Arc<str> = self.id("lease").into();
            for work in waiting.drain(..) {
                match work {
                    Work::Outcome(outcome) => outcomes.push(outcome),
                    Work::Checkout(request) => {
                        let (rows, answer) = self.make(request.merchant, at, &mut parcels);
                        made.push(rows);
                        asked.push((request.committed, answer));
                    }
                }
            }
            self.connection.write(&made, &lease, &outcomes).await;
            for (committed, answer) in asked {
                // Whoever asked may have hung up.
                let _ = committed.send(answer);
            }
            for parcel in parcels {
                tokio::spawn(Arc::clone(&self.sender).send(parcel));
            }
        }
    }

    /// The rows of one checkout, and what there is to send.
    fn make(&mut self, merchant: usize, at: i64, parcels: &mut Vec<Parcel>) -> (Made, String) {
        let (checkout, audit, request) = (self.id("chk"), self.id("aud"), self.id("req"));
        let event: Arc<str> = self.id("evt").into();
        let shop = &mut self.shops[merchant];
        shop.last_sequence += 1;
        shop.last_place += 1;
        let (id, sequence, place) = (Arc::clone(&shop.id), shop.last_sequence, shop.last_place);
        let endpoints = shop.endpoints.clone();
        let record = self.record.render(&checkout, "", 0);
        let body: Arc<str> = self.body.render(&checkout, &event, sequence).into();
        let deliveries = endpoints.iter().map(|endpoint| {
            let delivery = self.id("dlv");
            parcels.push(Parcel {
                delivery: delivery.clone(),
                event: Arc::clone(&event),
                endpoint: Arc::clone(endpoint),
                body: Arc::clone(&body),
            });
            NewDelivery { id: delivery, endpoint: Arc::clone(&endpoint.id), place }
        });
        let deliveries = deliveries.collect();
        let answer = record.clone();
        (
            Made { merchant: id, checkout, record, event, body, sequence, audit, request, at, deliveries },
            answer,
        )
    }

    /// As long as an issued id, and like it greater than those before it.
    fn id(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}_{:026}", self.next)
    }
}

/// Unix milliseconds.
pub(crate) fn now_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}
