//! What a delivery costs, beside a program that commits and sends the same and does nothing else.
//!
//! Three processes (and PostgreSQL's): `authority serve` (release build, durable settings); the *floor* (`floor/`);
//! and this one, which is the load and the receivers at once. Load and receivers share one thread: one clock tells
//! how long anything took, and on a machine with two cores they take at most one from whoever is measured. One side
//! is asked at a time, in rounds that go round, so that what else the machine does hits both alike; figures are
//! medians.
//!
//! One request opens one checkout through the operator API and makes one event, which every endpoint of its merchant
//! wants. Every endpoint is a host of its own, as in the world. The parts: [`grid`] (numbers of clients, fan-outs,
//! slow receivers), [`rates`] (how long a delivery takes when the load is fixed), [`waiting`] (a dead endpoint with a
//! million deliveries), [`one`] (a busy merchant with one endpoint), [`limits`] (receivers that can take only so
//! much) and [`recovery`] (a receiver that was away for two hours); and, when it is asked for, the [`soak`].
//!
//! Run by `cargo xtask bench deliver`; words on the command line choose what is measured ([`choice`]). Not a test: it
//! asserts only that nothing was lost.

mod choice;
mod dead;
mod floor;
mod grid;
mod journal;
mod limited;
mod limits;
mod load;
mod one;
mod rates;
mod receiver;
mod recovery;
mod soak;
mod stand;
mod turn;
mod waiting;

use bench_kit::database::Database;
use bench_kit::goals::Goals;
use choice::{Choice, Part};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "floor") {
        floor::serve();
    } else {
        run(&Choice::read(&words));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn run(choice: &Choice) {
    let mut goals = Goals::default();
    let mut sound = true;
    for kind in &choice.databases {
        let database = Database::make(*kind);
        for part in &choice.parts {
            match part {
                Part::Grid => grid::measure(&database, choice, &mut goals).await,
                Part::Rates => rates::measure(&database, choice, &mut goals).await,
                Part::Waiting => waiting::measure(&database, choice, &mut goals).await,
                Part::One => one::measure(&database, choice, &mut goals).await,
                Part::Limits => limits::measure(&database, choice, &mut goals).await,
                Part::Recovery => recovery::measure(&database, choice, &mut goals).await,
                Part::Soak => sound &= soak::measure(&database, choice).await,
            }
        }
    }
    print!("{goals}");
    if !sound {
        std::process::exit(1);
    }
}
