//! `cargo xtask`: one command for everything a person would otherwise have to remember.
//!
//! A person (or the build server) says `cargo xtask build`, `test`, `tidy`, `codegen`, `bench` or `prove`. This program
//! finds the workspace, checks that the machine has what the step needs, and runs the steps in order with their output
//! visible, stopping at the first failure with one sentence that says what failed.
//!
//! It needs Rust, Node, Python and the package registries, and little else: wasm-bindgen runs as a library of the
//! version in `Cargo.lock`, so no tool is downloaded or has to be installed beforehand.
//!
//! Absent on purpose: no configuration file and no state. What a step does is written in its module.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

mod api;
mod bench;
mod build;
mod checks;
mod codegen;
mod compiler;
mod consumer;
mod consumers;
mod examples;
mod frameworks;
mod fuzz;
mod hardening;
mod lanes;
mod npm;
mod package;
mod prerequisites;
mod process;
mod programs;
mod prove;
mod python;
mod release;
mod samples;
mod schemathesis;
mod start;
mod test_programs;
mod tidy;
mod wasm;
mod worker;
mod workspace;

use workspace::Workspace;

/// Builds, tests and checks the whole project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build everything: the WebAssembly core with its npm package, the Worker, and the authority.
    Build {
        /// Build the Worker alone.
        #[arg(long, conflicts_with = "package")]
        worker: bool,
        /// Build the npm package alone.
        #[arg(long)]
        package: bool,
    },
    /// Make everything that is handed out, into `target/artifacts`. `RELEASE_REPOSITORY` says where it comes from.
    Release,
    /// Run every check, or only the steps named.
    Test {
        /// Steps to run; all of them when none is named.
        steps: Vec<String>,
        /// One step beside others, of a run that has checked what the machine has.
        #[arg(long, hide = true, conflicts_with = "steps")]
        beside: Option<String>,
    },
    /// Write the TypeScript types that are generated from the authority's records, and the OpenAPI documents.
    Codegen {
        /// Write nothing; fail when what is committed is something else.
        #[arg(long)]
        check: bool,
    },
    /// Take the examples of the OpenAPI documents from a running authority.
    Examples,
    /// Check the house rules that a program can check.
    Tidy,
    /// Try random inputs on the verification core.
    Fuzz(fuzz::Numbers),
    /// Measure something.
    #[command(subcommand)]
    Bench(bench::Benchmark),
    /// Prove something that takes longer than the tests may.
    #[command(subcommand)]
    Prove(prove::Proof),
}

fn main() -> ExitCode {
    match compiler::called().unwrap_or_else(|| run(Arguments::parse().task)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    let workspace = Workspace::find()?;
    match task {
        Task::Build { worker: true, .. } => worker::build(&workspace),
        Task::Build { package: true, .. } => package::build(&workspace),
        Task::Build { .. } => build::everything(&workspace),
        Task::Release => release::run(&workspace).map(drop),
        Task::Fuzz(numbers) => fuzz::run(&workspace, &numbers),
        Task::Bench(benchmark) => bench::run(&workspace, &benchmark),
        Task::Prove(proof) => prove::run(&workspace, &proof),
        Task::Codegen { check } => codegen::run(&workspace, check),
        Task::Examples => examples::run(&workspace),
        Task::Tidy => tidy::run(&workspace),
        Task::Test { beside: Some(step), .. } => checks::beside(&workspace, &step),
        Task::Test { steps, .. } => checks::run(&workspace, &steps),
    }
}
