//! `cargo xtask test`: every check there is, cheapest first, so that a mistake shows early.
//!
//! The steps run one after the other with their output visible. The first failure ends the run, because what
//! follows builds on what came before; the summary says which step it was and which were not reached. Single
//! steps can be named: `cargo xtask test clippy package`.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::prerequisites::WASM_TARGET;
use crate::workspace::Workspace;
use crate::{api, build, consumer, consumers, frameworks, fuzz, prerequisites, process, tidy};

struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<()>,
}

const STEPS: [Step; 11] = [
    Step { name: "format", run: |workspace| cargo(workspace, &["fmt", "--all", "--check"], &[]) },
    Step { name: "tidy", run: tidy::run },
    Step {
        name: "clippy",
        run: |workspace| {
            cargo(workspace, &["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"], &[])?;
            // On other targets this crate is empty.
            let wasm =
                ["clippy", "--package", "verify-wasm", "--target", WASM_TARGET, "--", "--deny", "warnings"];
            cargo(workspace, &wasm, &[])
        },
    },
    Step {
        name: "doc",
        run: |workspace| {
            cargo(workspace, &["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "--deny warnings")])
        },
    },
    // The Rust tests drive the Worker in workerd and the package in Node, so both are built before them.
    Step { name: "build", run: build::web_parts },
    Step { name: "rust", run: rust_tests },
    Step { name: "api", run: api::test },
    Step { name: "package", run: consumer::test },
    Step { name: "frameworks", run: frameworks::test },
    Step { name: "consumers", run: consumers::test },
    Step { name: "fuzz", run: fuzz::smoke },
];

/// Cargo has built the authority for its own tests before the first test runs. The kit is told where, because on its
/// own it would build it again: with the features of one package instead of the workspace's, all dependencies anew.
fn rust_tests(workspace: &Workspace) -> Result<()> {
    let binary = workspace.target().join("debug/authority");
    process::run(
        process::cargo()
            .current_dir(workspace.root())
            .args(["test", "--workspace"])
            .env("AUTHORITY_BINARY", binary),
    )
}

/// Runs the steps named, or all of them, and fails when one does.
pub(crate) fn run(workspace: &Workspace, only: &[String]) -> Result<()> {
    if let Some(unknown) = only.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        bail!("there is no step {unknown}; the steps are {}", STEPS.map(|step| step.name).join(", "));
    }
    prerequisites::node()?;
    prerequisites::postgres()?;
    prerequisites::valgrind()?;
    prerequisites::cxx()?;
    prerequisites::chromium()?;
    prerequisites::python()?;
    prerequisites::checkers()?;
    prerequisites::wasm_target()?;
    let mut chosen = STEPS.iter().filter(|step| only.is_empty() || only.iter().any(|name| name == step.name));
    let mut summary = Vec::new();
    let mut failure = None;
    for step in chosen.by_ref() {
        println!("\n=== {} ===", step.name);
        let (result, duration) = timed(|| (step.run)(workspace));
        let outcome = if result.is_ok() { "passed" } else { "FAILED" };
        summary.push(format!("{:10} {outcome:8} {:>5} s", step.name, duration.as_secs()));
        if let Err(error) = result {
            failure = Some(error);
            break;
        }
    }
    let passed = summary.len() - usize::from(failure.is_some());
    summary.extend(chosen.map(|step| format!("{:10} not run", step.name)));
    println!("\n{}", summary.join("\n"));
    if let Some(error) = &failure {
        println!("\n{error:#}");
    }
    println!("{passed} passed, {} failed", usize::from(failure.is_some()));
    if failure.is_some() { bail!("not all steps passed") } else { Ok(()) }
}

#[expect(clippy::disallowed_methods, reason = "shown to the person who waits; nothing depends on it")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

fn cargo(workspace: &Workspace, arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    process::run(
        process::cargo().current_dir(workspace.root()).args(arguments).envs(environment.iter().copied()),
    )
}
