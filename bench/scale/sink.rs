//! Row 6: whether the platform's own endpoint keeps up with what is accepted. Every round has a stand of its own, since
//! a sink that does not keep up leaves a backlog to the next.

use bench_kit::database::Database;
use bench_kit::figures::of;

use crate::choice::Choice;
use crate::figures::{Goals, HEAD};
use crate::load::{Window, drive};
use crate::rows::{Side, plan, print};
use crate::stand::{FAR, Listeners};
use crate::work::Work;
use bench_kit::goals::Bound::AtLeast;

const CLIENTS: usize = 64;

pub(crate) async fn measure(database: &Database, choice: &Choice, goals: &mut Goals) {
    println!("{HEAD}");
    let mut all = vec![Vec::new(); choice.builds.len()];
    let window = Window { time: choice.window.time * 2, ..choice.window };
    for _ in 0..choice.rounds {
        for (build, rounds) in choice.builds.iter().zip(&mut all) {
            let side = Side::start(database, plan(build, 1, Some(FAR), Listeners::Sink), CLIENTS).await;
            rounds.push(drive(&side.stand, &side.stock, Work::Checkout, CLIENTS, window).await);
        }
    }
    for (build, rounds) in choice.builds.iter().zip(&all) {
        print(&plan(build, 1, Some(FAR), Listeners::Sink), Work::Checkout, CLIENTS, rounds, choice);
        let keeps_up = of(rounds, |seen| seen.delivered / seen.accepted);
        goals.note(build.name, "6: sink deliveries : accepted", keeps_up, AtLeast(0.9));
    }
}
