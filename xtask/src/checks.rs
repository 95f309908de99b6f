//! `cargo xtask test`: every check there is, cheapest first, so that a mistake shows early.
//!
//! The steps run one after the other with their output visible, as far as one builds on the other. The first failure
//! ends the run; the summary says which step it was and which were not reached. What runs programs comes last and
//! side by side, because most of them wait most of the time: the Rust tests in this process, the rest in two others,
//! whose output is shown when they have ended. Single steps can be named: `cargo xtask test clippy package`.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::prerequisites::WASM_TARGET;
use crate::workspace::Workspace;
use crate::{
    api, build, consumer, consumers, frameworks, fuzz, prerequisites, process, samples, start, test_programs,
    tidy,
};

struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<()>,
}

const STEPS: [Step; 13] = [
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
    Step { name: "rust", run: test_programs::run },
    Step { name: "api", run: api::test },
    Step { name: "samples", run: samples::test },
    Step { name: "start", run: start::test },
    Step { name: "package", run: consumer::test },
    Step { name: "frameworks", run: frameworks::test },
    Step { name: "consumers", run: consumers::test },
    Step { name: "fuzz", run: fuzz::smoke },
];

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
    let all = only.is_empty();
    let chosen: Vec<&Step> =
        STEPS.iter().filter(|step| all || only.iter().any(|name| name == step.name)).collect();
    let (mut summary, mut failures) = (Vec::new(), Vec::new());
    for step in &chosen {
        println!("\n=== {} ===", step.name);
        let beside = if all && step.name == BESIDE_OF { begin_beside(workspace)? } else { Vec::new() };
        let (result, duration) = timed(|| (step.run)(workspace));
        let outcome = if result.is_ok() { "passed" } else { "FAILED" };
        summary.push(format!("{:10} {outcome:8} {:>5} s", step.name, duration.as_secs()));
        failures.extend(result.err());
        for (steps, child) in beside {
            failures.extend(end_beside(workspace, steps, child, &mut summary).err());
        }
        if !failures.is_empty() || all && step.name == BESIDE_OF {
            break;
        }
    }
    let has_run = |step: &Step| summary.iter().any(|line| line.starts_with(&format!("{:10} ", step.name)));
    let not_run: Vec<&Step> = chosen.into_iter().filter(|step| !has_run(step)).collect();
    summary.extend(not_run.iter().map(|step| format!("{:10} not run", step.name)));
    println!("\n{}", summary.join("\n"));
    for failure in &failures {
        println!("\n{failure:#}");
    }
    let passed = summary.iter().filter(|line| line.contains(" passed ")).count();
    println!("{passed} passed, {} failed", failures.len());
    if failures.is_empty() { Ok(()) } else { bail!("not all steps passed") }
}

/// The step that others run beside.
const BESIDE_OF: &str = "rust";

/// The others: those of one process run one after the other, because they install into the same folders.
const BESIDE: [&[&str]; 2] = [&["api", "samples", "start"], &["package", "frameworks", "consumers", "fuzz"]];

/// Where such a process writes what it says.
fn log(workspace: &Workspace, steps: &[&str]) -> PathBuf {
    workspace.target().join(format!("test-{}.log", steps.join("-")))
}

fn begin_beside(workspace: &Workspace) -> Result<Vec<(&'static [&'static str], Child)>> {
    let begin = |steps: &'static [&'static str]| {
        let log = log(workspace, steps);
        let output = File::create(&log).with_context(|| format!("{} cannot be written", log.display()))?;
        let mut command = Command::new(std::env::current_exe()?);
        command.current_dir(workspace.root()).arg("test").args(steps);
        let both = output.try_clone()?;
        let child = command.stdin(Stdio::null()).stdout(output).stderr(both).spawn()?;
        Ok((steps, child))
    };
    BESIDE.into_iter().map(begin).collect()
}

/// Waits for the process, shows what it said and takes its summary over.
fn end_beside(
    workspace: &Workspace,
    steps: &[&str],
    mut child: Child,
    summary: &mut Vec<String>,
) -> Result<()> {
    let status = child.wait()?;
    let said = fs::read_to_string(log(workspace, steps))?;
    println!("{said}");
    let line = |step: &&str| said.lines().rev().find(|line| line.starts_with(&format!("{step:10} ")));
    summary.extend(steps.iter().filter_map(line).map(str::to_owned));
    if status.success() { Ok(()) } else { bail!("{}: {status}", steps.join(", ")) }
}

/// Does the work and says how long it took.
#[expect(clippy::disallowed_methods, reason = "shown to the person who waits; nothing depends on it")]
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

fn cargo(workspace: &Workspace, arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    process::run(
        process::cargo().current_dir(workspace.root()).args(arguments).envs(environment.iter().copied()),
    )
}
