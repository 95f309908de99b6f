//! How the authority grows: with a database that is some way off, with more instances, with more merchants at a time.
//!
//! Processes: `authority serve` (release build, durable settings), one or more on one PostgreSQL; another build of it
//! where one is named; and this one, which is the load, the receivers and the network: a proxy between every instance
//! and the database delays what passes, counts round trips, and can hold a connection
//! ([`tests::database_proxy`]). Load and receivers share one thread, the network has threads of its own. Sides are
//! asked in turns, in rounds; figures are medians.
//!
//! The parts: [`trips`] counts round trips, [`rows`] compares one side with another (builds, numbers of instances),
//! [`rare`] makes merchants and keys beside the load, [`sink`] sees whether the platform's own endpoint keeps up,
//! [`stopped`] stops an instance in the middle of a transaction, [`share`] shares orders, and [`rows::grid`] asks
//! everything of everything.
//!
//! Run by `cargo xtask bench scale`; words on the command line choose what is measured ([`choice`]). The authority is
//! seen from outside only: over HTTP, and by what it sends to the database. Not a test: it asserts only that answers
//! are good or 503.

mod choice;
mod figures;
mod load;
mod rare;
mod receiver;
mod rows;
mod shards;
mod share;
mod sink;
mod stand;
mod stopped;
mod trips;
mod work;

use bench_kit::database::{Database, Kind};
use choice::{Choice, Part};
use figures::Goals;

/// Merchants of every stand, and clients of each instance where each has its own.
const MERCHANTS: usize = 64;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let choice = Choice::read(&words);
    let database = Database::make(Kind::Postgres);
    let mut goals = Goals::default();
    for part in &choice.parts {
        match part {
            Part::Trips => trips::measure(&database, &choice, &mut goals).await,
            Part::Paid => rows::paid(&database, &choice, &mut goals).await,
            Part::Instances => rows::instances(&database, &choice, &mut goals).await,
            Part::Few => rows::few(&database, &choice, &mut goals).await,
            Part::Rare => rare::measure(&database, &choice, &mut goals).await,
            Part::Sink => sink::measure(&database, &choice, &mut goals).await,
            Part::Near => rows::near(&database, &choice, &mut goals).await,
            Part::Share => share::measure(&database, &choice, &mut goals).await,
            Part::Node => rows::node(&database, &choice).await,
            Part::Stopped => stopped::measure(&database, &choice, &mut goals).await,
            Part::Grid => rows::grid(&database, &choice).await,
        }
    }
    goals.print();
}
