//! The soak: `bench/deliver/soak.rs`, at half of what the authority can carry.

use anyhow::Result;
use clap::Args;

use crate::workspace::Workspace;
use crate::{bench, prerequisites};

/// How long, and on what.
#[derive(Args)]
pub(crate) struct Numbers {
    /// On each database. A third of them is for warming up.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(6..))]
    minutes: u32,
    /// `sqlite` or `postgres`; both, one after the other, when it is left out.
    #[arg(long, value_parser = ["sqlite", "postgres"])]
    database: Option<String>,
}

/// Runs it.
pub(super) fn run(workspace: &Workspace, numbers: &Numbers) -> Result<()> {
    prerequisites::postgres()?;
    let mut words = vec!["soak".to_owned(), format!("minutes={}", numbers.minutes)];
    words.extend(numbers.database.clone());
    bench::deliver(workspace, &words)
}
