//! `cargo run -p simulation`: one long run, or many short ones, from the command line.
//!
//! Without arguments it lives through 10,000 days. A rule that is broken ends it with the journal, the rule, and the
//! command that shows the same again.

use std::process::ExitCode;

use clap::Parser;
use simulation::{Report, Settings, run};

/// Runs the delivery engine through simulated days.
#[derive(Parser)]
#[command(name = "simulate")]
struct Arguments {
    /// The seed, or the first one.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many seeds, one after the other.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Simulated days of each.
    #[arg(long, default_value_t = 10_000)]
    days: i64,
    /// Print the journal as it is written.
    #[arg(long)]
    shown: bool,
}

fn main() -> ExitCode {
    let Arguments { seed, seeds, days, shown } = Arguments::parse();
    for seed in seed..seed.saturating_add(seeds) {
        let report = run(Settings { seed, days, planted: None, shown });
        println!("{report}");
        if let Some(violation) = &report.violation {
            tell(&report, &violation.0);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn tell(report: &Report, violation: &str) {
    if !report.settings.shown {
        eprintln!("{}", report.journal.join("\n"));
    }
    eprintln!("\nseed {}: {violation}\nagain with: {}", report.settings.seed, report.command());
}
