//! Round trips per transaction of every hot operation, with many jobs waiting: as many clients as merchants, one
//! instance, a database that is 2 ms away.
//!
//! The statements are prepared before: a part of the work is done unwatched. What the background does meanwhile is
//! counted too, and told apart by the tables that a transaction wrote.

use bench_kit::database::Database;
use futures_util::future::join_all;
use tests::database_proxy::Trips;

use crate::MERCHANTS;
use crate::choice::Choice;
use crate::figures::{Goals, explain};
use crate::rows::plan;
use crate::stand::{Build, Client, FAR, Listeners, Stand};
use crate::work::{Stock, Work};
use bench_kit::goals::Bound::AtMost;

/// Jobs at a time: one of each client.
const CLIENTS: usize = 64;
/// Of each operation, by each client.
const WATCHED: usize = 12;
/// The same before it is watched.
const BEFORE: usize = 4;

const WORKS: [Work; 9] = [
    Work::Checkout,
    Work::PaymentStart,
    Work::PaymentReport,
    Work::PaidOrder,
    Work::Ingest,
    Work::Refund,
    Work::Shipment,
    Work::Fulfilment,
    Work::Mixed,
];

pub(crate) async fn measure(database: &Database, choice: &Choice, goals: &mut Goals) {
    println!(
        "\n| build | what {CLIENTS} clients do {WATCHED} times | transactions | round trips of one: mean | most |"
    );
    println!("|---|---|---:|---:|---:|");
    for build in &choice.builds {
        let stand = Stand::start(database, plan(build, 1, Some(FAR), Listeners::None)).await;
        let stock = Stock::of(&stand);
        for work in WORKS {
            let trips = count(&stand, &stock, work).await;
            tell(build, work.name(), &trips, choice, goals);
        }
        settle(database, build, choice, goals).await;
    }
}

async fn count(stand: &Stand, stock: &Stock, work: Work) -> Trips {
    stock.fill(stand, work, CLIENTS * (BEFORE + WATCHED)).await;
    let mut clients = stand.clients(CLIENTS).await;
    watched(async |times| {
        let _ = stand.take_trips();
        all_do(stock, work, &mut clients, times).await;
        stand.take_trips().expect("a proxy")
    })
    .await
}

/// Deliveries: what hands them over, claims them and writes their outcomes. The receivers keep their answers back until
/// the events are made, so that what follows has nothing to do but that.
async fn settle(database: &Database, build: &Build, choice: &Choice, goals: &mut Goals) {
    let stand = Stand::start(database, plan(build, 1, Some(FAR), Listeners::Each)).await;
    let stock = Stock::of(&stand);
    let mut clients = stand.clients(CLIENTS).await;
    let trips = watched(async |times| {
        stand.receivers.keep_silent();
        all_do(&stock, Work::Checkout, &mut clients, times).await;
        let _ = stand.take_trips();
        stand.receivers.answer();
        stand.drained().await;
        stand.take_trips().expect("a proxy")
    })
    .await;
    tell(build, "settle and claim", &trips, choice, goals);
    let trips = watched(async |times| {
        let _ = stand.take_trips();
        all_do(&stock, Work::PaidOrder, &mut clients, times).await;
        stand.drained().await;
        stand.take_trips().expect("a proxy")
    })
    .await;
    tell(build, "paid order, an endpoint each", &trips, choice, goals);
    for lateness in stand.take_lateness() {
        println!("\n{}: pieces passed the network {lateness}", build.name);
    }
}

/// The statements are prepared before somebody looks.
async fn watched(mut run: impl AsyncFnMut(usize) -> Trips) -> Trips {
    run(BEFORE).await;
    run(WATCHED).await
}

async fn all_do(stock: &Stock, work: Work, clients: &mut [Client], times: usize) {
    let working = clients.iter_mut().enumerate().map(async |(number, client)| {
        for _ in 0..times {
            let done = stock.once(work, client, number % MERCHANTS).await;
            assert_eq!(done, Ok(()), "{}", work.name());
        }
    });
    join_all(working).await;
}

fn tell(build: &Build, what: &str, trips: &Trips, choice: &Choice, goals: &mut Goals) {
    let name = build.name;
    let row = |what: &str, transactions: u64, mean: f64, most: u32| {
        println!("| {name} | {what} | {transactions} | {mean:.1} | {most} |");
    };
    row(what, trips.transactions(), trips.mean(), trips.most());
    goals.note(
        name,
        &format!("1: round trips of a transaction, {what}"),
        f64::from(trips.most()),
        AtMost(9.0),
    );
    if choice.explain {
        for (tables, kind) in &trips.kinds {
            let mean = kind.trips as f64 / kind.transactions as f64;
            row(&format!("… that wrote {tables}"), kind.transactions, mean, kind.most);
        }
        explain(name, trips);
    }
}
