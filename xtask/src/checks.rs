//! `cargo xtask test`: every check there is, cheapest first, so that a mistake shows early.
//!
//! What takes seconds comes first. The rest runs in three lanes side by side, so that no core waits while another
//! compiles, downloads or waits for a test: the Rust lane in this process, with its output visible; each step of the
//! others in a process of its own, whose output is shown when it has ended. The first failure ends the run: no further
//! step begins. The summary says which step it was and which were not reached. Single steps can be named, and run one
//! after the other: `cargo xtask test lint package`.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::lanes::{self, Ended, Job};
use crate::prerequisites::WASM_TARGET;
use crate::workspace::Workspace;
use crate::{
    api, build, compiler, consumer, consumers, frameworks, fuzz, prerequisites, process, samples,
    schemathesis, start, test_programs, tidy, worker,
};

struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<()>,
}

const STEPS: [Step; 13] = [
    Step { name: "format", run: |workspace| cargo(workspace, &["fmt", "--all", "--check"]) },
    Step { name: "tidy", run: tidy::run },
    Step {
        name: "lint",
        run: |workspace| {
            let check = ["check", "--workspace", "--all-targets"];
            process::run(compiler::cargo(workspace)?.args(check))?;
            lint_for_wasm(workspace)
        },
    },
    // The Rust tests drive the Worker in workerd and the package in Node, so both are built before them.
    Step { name: "build", run: build::web_parts },
    Step { name: "rust", run: test_programs::run },
    Step { name: "api", run: api::test },
    Step { name: "schemathesis", run: schemathesis::test },
    Step { name: "samples", run: samples::test },
    Step { name: "start", run: start::test },
    Step { name: "package", run: consumer::test },
    Step { name: "frameworks", run: frameworks::test },
    Step { name: "consumers", run: consumers::test },
    Step { name: "fuzz", run: fuzz::smoke },
];

/// With the profile of what is shipped, whose procedural macros are there.
const FOR_WASM: [&str; 4] = ["--profile", "wasm", "--target", WASM_TARGET];

/// What `lint` is in a whole run: all else is linted and documented as `rust` compiles it.
const LINT_FOR_WASM: Step = Step { name: "lint", run: lint_for_wasm };

/// What runs before all others.
const FIRST: [&str; 2] = ["format", "tidy"];

/// The lanes of a whole run. What installs into the same folders stands in one lane; what needs a build of cargo's that
/// the first lane makes as well (`package`, `api`) comes late enough in its own not to wait long for cargo's lock.
/// `fuzz` goes first because its profile has a lock of its own.
const LANES: [&[&str]; 3] = [
    &["lint", "rust"],
    &["build", "consumers", "frameworks", "package", "schemathesis"],
    &["fuzz", "api", "samples", "start"],
];

/// Steps that need the npm package or the Worker as built by the second lane.
const AFTER_BUILD: [&str; 2] = ["rust", "api"];

/// Runs the steps named, or all of them, and fails when one does.
pub(crate) fn run(workspace: &Workspace, only: &[String]) -> Result<()> {
    if let Some(unknown) = only.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        bail!("there is no step {unknown}; the steps are {}", STEPS.map(|step| step.name).join(", "));
    }
    prerequisites::all()?;
    let is_chosen = |step: &&Step| only.is_empty() || only.iter().any(|name| name == step.name);
    let chosen: Vec<&Step> = STEPS.iter().filter(is_chosen).collect();
    let ended = if only.is_empty() { whole(workspace) } else { in_turn(workspace, &chosen) };
    summarise(&chosen, &ended)
}

/// Runs one step of a run that has asked the prerequisites already, in its process beside others.
pub(crate) fn beside(workspace: &Workspace, name: &str) -> Result<()> {
    let step =
        STEPS.iter().find(|step| step.name == name).with_context(|| format!("there is no step {name}"))?;
    (step.run)(workspace)
}

fn in_turn(workspace: &Workspace, steps: &[&Step]) -> Vec<Ended> {
    lanes::run(vec![steps.iter().map(|step| visibly(workspace, step)).collect()])
}

fn whole(workspace: &Workspace) -> Vec<Ended> {
    let in_whole = |step: &'static Step| if step.name == "lint" { &LINT_FOR_WASM } else { step };
    let steps = |names: &[&str]| {
        STEPS.iter().filter(|step| names.contains(&step.name)).map(in_whole).collect::<Vec<_>>()
    };
    let mut ended = in_turn(workspace, &steps(&FIRST));
    if ended.iter().all(|step| step.result.is_ok()) {
        let [visible, others @ ..] = LANES;
        let visible: Vec<_> = steps(visible).into_iter().map(|step| visibly(workspace, step)).collect();
        let others = others.map(|names| names.iter().map(|name| unseen(workspace, name)).collect());
        let mut lanes: Vec<Vec<Job<'_>>> = [visible].into_iter().chain(others).collect();
        for job in lanes.iter_mut().flatten() {
            job.after = AFTER_BUILD.contains(&job.name).then_some("build");
        }
        ended.extend(lanes::run(lanes));
    }
    ended
}

/// The step in this process, with its output visible.
fn visibly<'a>(workspace: &'a Workspace, step: &'a Step) -> Job<'a> {
    let run = move || {
        println!("\n=== {} ===", step.name);
        (step.run)(workspace)
    };
    Job { name: step.name, after: None, run: Box::new(run) }
}

/// The step in a process of its own, whose output is shown in one piece.
fn unseen<'a>(workspace: &'a Workspace, name: &'static str) -> Job<'a> {
    let run = move || {
        let log = workspace.target().join(format!("test-{name}.log"));
        let output = File::create(&log).with_context(|| format!("{} cannot be written", log.display()))?;
        let mut command = Command::new(std::env::current_exe()?);
        command.current_dir(workspace.root()).args(["test", "--beside", name]);
        let both = output.try_clone()?;
        let status = command.stdin(Stdio::null()).stdout(output).stderr(both).status()?;
        println!("\n=== {name} ===\n{}", fs::read_to_string(log)?);
        if status.success() { Ok(()) } else { bail!("{name}: {status}") }
    };
    Job { name, after: None, run: Box::new(run) }
}

fn summarise(chosen: &[&Step], ended: &[Ended]) -> Result<()> {
    println!();
    for step in chosen {
        match ended.iter().find(|ended| ended.name == step.name) {
            Some(Ended { duration, result, .. }) => {
                let outcome = if result.is_ok() { "passed" } else { "FAILED" };
                println!("{:12} {outcome:8} {:>5} s", step.name, duration.as_secs());
            }
            None => println!("{:12} not run", step.name),
        }
    }
    let failures: Vec<_> = ended.iter().filter_map(|step| step.result.as_ref().err()).collect();
    for failure in &failures {
        println!("\n{failure:#}");
    }
    println!("{} passed, {} failed", ended.len() - failures.len(), failures.len());
    if failures.is_empty() { Ok(()) } else { bail!("not all steps passed") }
}

/// Does the work and says how long it took.
#[expect(clippy::disallowed_methods, reason = "shown to the person who waits; nothing depends on it")]
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// Lints and documents what runs as WebAssembly: on other targets these crates are empty, or without what speaks to the
/// runtime.
fn lint_for_wasm(workspace: &Workspace) -> Result<()> {
    let check = ["check", "--package", "verify-wasm", "--package", "edge-receiver"];
    process::run(compiler::cargo(workspace)?.args(check).args(FOR_WASM).envs(worker::ENVIRONMENT))
}

fn cargo(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    process::run(process::cargo_in(workspace).args(arguments))
}
