//! The campaign: `kill -9`, fifty times, in the middle of everything that merchants and platforms do, on both databases
//! (contract 3.11, 8.1, 12 T1; acceptance A9).
//!
//! Clients play stories of all kinds (`stories.rs`), each write under an idempotency key or the id of a processor's
//! event, and repeat what was not answered. The authority is killed after a random number of answers. After every kill
//! `authority doctor` audits what lies in the database: sequences and invariants. At the end every write that was
//! acknowledged must be told by the stream exactly once, and a repeated request must get the answer it got. What is
//! drawn is drawn from [`SEED`].

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;
mod stories;
mod upgrade;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;
use tests::{Answer, Authority, Database, Merchant, Receiver, on_both_databases, sequences, within};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use client::{Acknowledged, Client};

on_both_databases!(fifty_kills_in_the_middle_of_everything);

const SEED: u64 = 20_260_902;
const KILLS: usize = 50;
const MERCHANTS: usize = 3;
const CLIENTS: usize = 9;
/// Answers between two kills.
const ANSWERS: std::ops::Range<usize> = 5..60;
/// Acknowledged writes that are sent again at the end.
const REPEATED: usize = 150;

async fn fifty_kills_in_the_middle_of_everything(database: Database) {
    let mut dice = StdRng::seed_from_u64(SEED);
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.number % 3 == 0 { 500 } else { 200 })).await;
    let mut authority = Authority::on(database, &[("AUTHORITY_LOG", "warn")]).await;
    let mut merchants = Vec::new();
    for n in 0..MERCHANTS {
        let merchant = Merchant::create(&authority, &format!("campaign-{n}")).await;
        merchant.endpoint(&receiver.url(&format!("/{n}")), &["*"]).await;
        merchants.push(merchant);
    }

    let load = Load::start((0..CLIENTS).map(|n| merchants[n % MERCHANTS].clone()));
    for _ in 0..KILLS {
        load.answers(dice.random_range(ANSWERS)).await;
        authority.kill().await;
        audit(&authority).await;
        authority.restart().await;
    }
    let acknowledged = load.stop().await;
    // Beside the running service as well.
    audit(&authority).await;
    for merchant in &merchants {
        check_stream(merchant, &acknowledged).await;
    }
    check_repeats(&mut dice, &merchants, &acknowledged).await;
    authority.nothing_pending().await;
    authority.terminate().await;
    audit(&authority).await;
    println!("{database:?}: {KILLS} kills, {} acknowledged writes", acknowledged.len());
}

/// Clients that play stories until they are stopped.
struct Load {
    answers: watch::Sender<usize>,
    enough: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Vec<Acknowledged>>>,
}

impl Load {
    /// A client for each of these.
    fn start(merchants: impl Iterator<Item = Merchant>) -> Self {
        let answers = watch::Sender::new(0_usize);
        let enough = Arc::new(AtomicBool::new(false));
        let start = |(n, merchant)| {
            let mut client = Client::new(n, SEED, merchant, answers.clone());
            let enough = Arc::clone(&enough);
            tokio::spawn(async move {
                while !enough.load(Ordering::Relaxed) {
                    stories::play(&mut client).await;
                }
                client.acknowledged
            })
        };
        let clients = merchants.enumerate().map(start).collect();
        Self { answers, enough, clients }
    }

    /// Waits until as many more writes have been answered.
    async fn answers(&self, more: usize) {
        let target = *self.answers.borrow() + more;
        within("answers", self.answers.subscribe().wait_for(|count| *count >= target)).await.unwrap();
    }

    /// Lets every client end its story; returns what was answered with success.
    async fn stop(self) -> Vec<Acknowledged> {
        self.enough.store(true, Ordering::Relaxed);
        let mut acknowledged = Vec::new();
        for client in self.clients {
            acknowledged.extend(client.await.unwrap());
        }
        acknowledged
    }
}

/// The sequences and invariants of everything that is stored.
async fn audit(authority: &Authority) {
    let audited = authority.run(&["doctor", "--json"]).await;
    assert!(
        audited.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&audited.stdout),
        String::from_utf8_lossy(&audited.stderr)
    );
}

/// 1 to n, and every version that somebody was told of in an answer is told by exactly one event.
async fn check_stream(merchant: &Merchant, acknowledged: &[Acknowledged]) {
    let events = merchant.events().await;
    assert_eq!(sequences(&events), Vec::from_iter(1..=events.len() as u64));
    let mut told = BTreeSet::new();
    for event in events.iter().filter(|event| !event["resource_version"].is_null()) {
        let (category, _) = event["type"].as_str().unwrap().split_once('.').unwrap();
        let version = (
            category.to_owned(),
            client::name_of(&event["data"]["object"]),
            event["resource_version"].clone(),
        );
        assert!(told.insert(version_key(version)), "told twice: {event}");
    }
    for write in acknowledged.iter().filter(|write| write.merchant_id == merchant.id) {
        if let Some(version) = versions_in(&write.answer) {
            assert!(told.contains(&version), "nothing tells of {write:?}");
        }
    }
}

fn version_key((category, name, version): (String, String, Value)) -> (String, String, u64) {
    (category, name, version.as_u64().unwrap())
}

/// The record that an answer shows, where it is one that events tell of.
fn versions_in(answer: &Value) -> Option<(String, String, u64)> {
    // A report's answer shows the record it was about.
    let record = ["payment", "refund", "shipment", "subscription"]
        .iter()
        .find_map(|member| answer.get(*member).filter(|record| record.is_object()))
        .unwrap_or(answer);
    let category = record["object"].as_str()?;
    let known = ["checkout", "payment", "order", "refund", "shipment", "subscription"].contains(&category);
    let version = record["resource_version"].as_u64()?;
    known.then(|| (category.to_owned(), client::name_of(record), version))
}

/// A write that was acknowledged, sent again: the same answer, and nothing else happens (I13).
async fn check_repeats(dice: &mut StdRng, merchants: &[Merchant], acknowledged: &[Acknowledged]) {
    let mut before = Vec::new();
    for merchant in merchants {
        before.push(merchant.events().await.len());
    }
    for _ in 0..REPEATED {
        let write = &acknowledged[dice.random_range(0..acknowledged.len())];
        write.again().await;
    }
    for (merchant, before) in merchants.iter().zip(before) {
        assert_eq!(merchant.events().await.len(), before);
    }
}
