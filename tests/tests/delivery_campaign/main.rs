//! The crash campaign of the delivery engine: instances are killed, stopped and started again in the middle of
//! deliveries, their database with them, while receivers fail in every way and merchants turn their endpoints over
//! (contract 7, 8.1, 12, 15; acceptance A13).
//!
//! Clients write under idempotency keys through all instances ([`merchants`]), merchants change their endpoints
//! ([`upheaval`]), the receiver records what arrives ([`receiver`]), and instances and their database get what
//! happens to such things ([`fleet`]). Then everything heals, and what was promised, what the database says and what
//! arrived are held against each other ([`judge`]): every (event, endpoint) was delivered or has a reason. Last,
//! every endpoint catches up on what it missed, and has everything then.
//!
//! The tests do it with twenty kills, `cargo xtask prove delivery-campaign` with two hundred. What is drawn is drawn
//! from a seed; what processes and sockets make of it is theirs, so that a seed repeats the plan and not every moment.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod facts;
mod figures;
mod fleet;
mod history;
mod judge;
mod judged;
mod merchants;
mod pace;
mod plan;
mod receiver;
mod upheaval;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use postgres_cluster::Durability;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tests::{Database, now_ms, on_both_databases};

use facts::Look;
use figures::{Deeds, Figures};
use fleet::{Fault, Fleet};
use judge::{Evidence, Findings, judge};
use merchants::{Balanced, Ledger, shop};
use pace::after_ms;
use plan::Plan;
use receiver::Receiver;
use upheaval::Hand;

on_both_databases!(twenty_kills);

/// Milliseconds between two kills.
const BETWEEN_KILLS_MS: std::ops::Range<u64> = 1_000..3_000;

async fn twenty_kills(database: Database) {
    let plan = Plan::short(database, 20_261_120, 20);
    run(&plan, Durability::Off).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes: cargo xtask prove delivery-campaign"]
async fn proof_on_sqlite() {
    run(&Plan::of_environment(Database::Sqlite), Durability::On).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes: cargo xtask prove delivery-campaign"]
async fn proof_on_postgres() {
    run(&Plan::of_environment(Database::Postgres), Durability::On).await;
}

/// Runs the campaign and judges it.
async fn run(plan: &Plan, durability: Durability) {
    println!("campaign on {:?}: seed {}, {} kills", plan.database, plan.seed, plan.kills);
    let (mut fleet, deeds, evidence) = campaign(plan, durability).await;
    let findings = judge(&evidence);
    println!("{}", Figures::of(plan, &deeds, &evidence, &findings));
    fleet.terminate().await;
    fleet.instances[0].is_sound().await;
    for found in findings.lost.iter().chain(&findings.wrong).take(20) {
        println!("{found}");
    }
    assert_eq!(findings, Findings::default(), "seed {}", plan.seed);
}

/// Everything that happens; the fleet runs still, and nothing waits.
async fn campaign(plan: &Plan, durability: Durability) -> (Fleet, Deeds, Evidence) {
    let mut fleet = Fleet::start(plan, durability).await;
    let receiver = Arc::new(Receiver::start(plan.seed).await);
    let (ledger, enough) = (Ledger::default(), Arc::new(AtomicBool::new(false)));
    let (mut clients, mut hands) = (Vec::new(), Vec::new());
    for name in 0..plan.merchants {
        let merchant = Balanced::create(&fleet, &format!("campaign-{name}")).await;
        let hand =
            Hand::start(plan.seed, name, merchant.clone(), Arc::clone(&receiver), ledger.clone()).await;
        hands.push(tokio::spawn(hand.upheave(Arc::clone(&enough))));
        for client in 0..plan.clients {
            let (plan, merchant) = (plan.clone(), merchant.clone());
            let (ledger, enough) = (ledger.clone(), Arc::clone(&enough));
            let client = name * plan.clients + client;
            clients.push(tokio::spawn(async move { shop(&plan, client, merchant, ledger, enough).await }));
        }
    }
    let mut deeds = disturb(plan, &mut fleet).await;
    enough.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    receiver.heal();
    deeds.healed_in = healed(plan, &fleet).await;
    let mut histories = Vec::new();
    let mut recovering = Vec::new();
    for hand in hands {
        let mut hand = hand.await.unwrap();
        hand.recover().await;
        recovering.push(hand);
    }
    if plan.kill_in_the_end {
        // Recoveries are durable.
        fleet.kill(&mut StdRng::seed_from_u64(plan.seed)).await;
    }
    deeds.recovered_in = healed(plan, &fleet).await;
    for hand in recovering {
        assert_eq!(hand.undelivered().await, 0, "events that have not arrived");
        histories.extend(hand.into_histories());
    }
    let facts = Look::at(fleet.database_url()).await.facts().await;
    let evidence = Evidence { acknowledged: ledger.entries(), histories, facts, record: receiver.record() };
    (fleet, deeds, evidence)
}

/// Kills, and everything else that the plan has, until it is used up.
async fn disturb(plan: &Plan, fleet: &mut Fleet) -> Deeds {
    let began = now_ms();
    let mut dice = StdRng::seed_from_u64(plan.seed);
    let mut deeds = Deeds::default();
    let mut faults = [Fault::Restart, Fault::Crash, Fault::Pause].into_iter().cycle();
    while deeds.kills < plan.kills {
        after_ms(dice.random_range(BETWEEN_KILLS_MS)).await;
        fleet.kill(&mut dice).await;
        deeds.kills += 1;
        if plan.failover_after.is_some_and(|after| deeds.kills >= after) && fleet.failover(&mut dice).await {
            *deeds.faults.entry("failover".to_owned()).or_default() += 1;
        }
        if deeds.kills % plan.stop_every == 0 {
            after_ms(dice.random_range(BETWEEN_KILLS_MS)).await;
            fleet.stop(&mut dice).await;
            deeds.stops += 1;
        }
        if fleet.has_server() && deeds.kills % plan.fault_every == 0 {
            after_ms(dice.random_range(BETWEEN_KILLS_MS)).await;
            let fault = faults.next().expect("for ever");
            fleet.fault(fault, &mut dice).await;
            *deeds.faults.entry(format!("{fault:?}").to_lowercase()).or_default() += 1;
            deeds.kills += usize::from(fault == Fault::Crash);
        }
    }
    deeds.lasted = since(began);
    deeds
}

/// Waits until nothing waits any more, and nothing is being recovered, or as long as the plan allows; the judge says
/// what waits still.
async fn healed(plan: &Plan, fleet: &Fleet) -> Duration {
    let began = now_ms();
    let mut look = Look::at(fleet.database_url()).await;
    while look.waiting().await > 0 && since(began) < plan.heal_within {
        after_ms(100).await;
    }
    since(began)
}

fn since(began: i64) -> Duration {
    Duration::from_millis(now_ms().saturating_sub(began).unsigned_abs())
}
