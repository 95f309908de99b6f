//! `cargo xtask bench`: benchmarks that anyone can rerun. The measuring is in `bench/`; here is what it needs.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use clap::Subcommand;

use crate::workspace::Workspace;
use crate::{npm, package, prerequisites, process, worker};

/// What can be measured.
#[derive(Subcommand)]
pub(crate) enum Benchmark {
    /// Verification: the npm package in Node beside its peers, with its size and its start, and the core alone beside
    /// what HMAC libraries need for the signature.
    Verify,
    /// The client of the API: processor time per call beside `fetch` by hand and stripe-node, and its size.
    Client,
    /// From the operator's request to the receiver's door, beside a program that commits and sends the same and does
    /// nothing else, on both databases.
    Deliver {
        /// What is measured, as `bench/deliver/choice.rs` reads it: `sqlite grid clients=64`. All when nothing is said.
        words: Vec<String>,
    },
    /// The edge receiver in workerd, beside Workers written by hand in JavaScript: processor time, wall time, size.
    Edge,
    /// What one hostile merchant does to memory and to a neighbour's requests, on both databases.
    Attack {
        /// Databases and attacks, as `bench/attack/main.rs` names them: `sqlite pages`. When nothing is said each
        /// alone, then pages and names at once.
        words: Vec<String>,
    },
    /// How the authority grows, on PostgreSQL: a database that is some way off, more instances, more clients; round
    /// trips per transaction, an instance that stops, the platform's own endpoint.
    Scale {
        /// A few minutes: what the goals are about, without what takes long.
        #[arg(long)]
        quick: bool,
        /// Another binary of the authority, which is asked in turns with this build.
        #[arg(long)]
        against: Option<PathBuf>,
        /// Parts and sizes, as `bench/scale/choice.rs` reads them: `trips explain`.
        words: Vec<String>,
    },
    /// Every list of a merchant with a million orders, with every filter, on both databases.
    Lists {
        /// A database, and how many orders: `sqlite orders=100000`.
        words: Vec<String>,
    },
    /// Pages, an order, a claim and writes beside a million merchants, and beside ten thousand, on both databases; and
    /// what the service takes at its start and at rest.
    Merchants {
        /// A database, and how many merchants the larger one has: `sqlite merchants=100000 rounds=5`.
        words: Vec<String>,
    },
    /// Every page of the console and of the portal beside a million events, with the API under load and without, and
    /// what whoever reads them costs the API, on both databases.
    Pages {
        /// A database, and how many events: `sqlite events=100000`.
        words: Vec<String>,
    },
    /// The authority beside bare axum and sqlx, on both databases: reads of a long history, paid orders, memory.
    Authority,
}

/// Builds what is measured and measures it.
pub(crate) fn run(workspace: &Workspace, benchmark: &Benchmark) -> Result<()> {
    match benchmark {
        Benchmark::Verify => {
            prerequisites::node()?;
            package::build(workspace)?;
            npm::install(&workspace.root().join("bench"))?;
            process::run(Command::new("node").current_dir(workspace.root()).arg("bench/verify/run.mjs"))?;
            process::run(
                process::cargo()
                    .current_dir(workspace.root().join("bench/verify/native"))
                    .args(["run", "--release", "--locked", "--target-dir"])
                    .arg(workspace.target().join("bench-verify")),
            )
        }
        Benchmark::Client => {
            prerequisites::node()?;
            package::build(workspace)?;
            npm::install(&workspace.root().join("bench"))?;
            process::run(Command::new("node").current_dir(workspace.root()).arg("bench/client/run.mjs"))
        }
        Benchmark::Deliver { words } => deliver(workspace, words),
        Benchmark::Edge => {
            prerequisites::node()?;
            worker::build(workspace)?;
            npm::install(&workspace.root().join("tests/node"))?;
            process::run(Command::new("node").current_dir(workspace.root()).arg("bench/edge/run.mjs"))
        }
        Benchmark::Attack { words } => program(workspace, "bench-attack", words),
        Benchmark::Scale { quick, against, words } => {
            let mut words = words.clone();
            words.extend(quick.then(|| "quick".to_owned()));
            words.extend(against.iter().map(|path| format!("against={}", path.display())));
            program(workspace, "bench-scale", &words)
        }
        Benchmark::Lists { words } => program(workspace, "bench-lists", words),
        Benchmark::Merchants { words } => program(workspace, "bench-merchants", words),
        Benchmark::Pages { words } => program(workspace, "bench-pages", words),
        Benchmark::Authority => program(workspace, "bench-authority", &[]),
    }
}

/// Measures deliveries, or what of them `words` say.
pub(crate) fn deliver(workspace: &Workspace, words: &[String]) -> Result<()> {
    program(workspace, "bench-deliver", words)
}

fn program(workspace: &Workspace, name: &str, words: &[String]) -> Result<()> {
    let arguments = ["run", "--release", "--package", "bench", "--bin", name, "--"];
    process::run(process::cargo_in(workspace).args(arguments).args(words))
}
