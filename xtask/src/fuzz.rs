//! `cargo xtask fuzz`: the fuzz targets of `verify-wasm/hardening` under libFuzzer.
//!
//! The targets are built with the compiler's coverage instrumentation, which stable Rust has (`-C passes`), and with
//! debug assertions and overflow checks, so that an arithmetic mistake is a panic. Then each runs: from the seed
//! corpus and what earlier runs found, for as many inputs (the test command) or minutes as are asked for. An input
//! that breaks a target ends the run and lies in `target/fuzz/<target>/`.
//!
//! Absent on purpose: the address sanitizer, which only a nightly compiler has. `verify-core` forbids `unsafe`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::workspace::Workspace;
use crate::{package, prerequisites, process};

const PACKAGE: &str = "verify-hardening";

/// A fuzz target.
struct Target {
    name: &'static str,
    /// The longest input worth trying, in bytes.
    longest: usize,
    /// Inputs that the test command tries: what takes a few seconds.
    smoke: u32,
}

const TARGETS: [Target; 5] = [
    Target { name: "headers", longest: 1024, smoke: 20_000 },
    Target { name: "secrets", longest: 2048, smoke: 10_000 },
    Target { name: "json", longest: 4096, smoke: 20_000 },
    Target { name: "verify", longest: 2048, smoke: 5_000 },
    Target { name: "explain", longest: 2048, smoke: 1_000 },
];
/// A few thousand inputs take less time than the compiler does to make them quick; half an hour of them does not.
const SMOKE_OPT_LEVEL: &str = "1";
const OPT_LEVEL: &str = "3";
/// How much of a failure is shown.
const LAST_LINES: usize = 60;

/// Which, and how long.
#[derive(Args)]
pub(crate) struct Numbers {
    /// `headers`, `secrets`, `json`, `verify` or `explain`; all of them, one after the other, when none is named.
    targets: Vec<String>,
    /// Minutes for each.
    #[arg(long, default_value_t = 30)]
    minutes: u32,
    /// Inputs for each, instead of minutes.
    #[arg(long)]
    runs: Option<u32>,
}

/// A fixed number of inputs for every target, the same ones each time.
pub(crate) fn smoke(workspace: &Workspace) -> Result<()> {
    let binaries = build(workspace, SMOKE_OPT_LEVEL)?;
    TARGETS.iter().try_for_each(|target| fuzz(workspace, &binaries, target, Length::Inputs(target.smoke)))
}

/// Runs the targets that are asked for.
pub(crate) fn run(workspace: &Workspace, numbers: &Numbers) -> Result<()> {
    let Numbers { targets, minutes, runs } = numbers;
    if let Some(unknown) = targets.iter().find(|name| TARGETS.iter().all(|target| target.name != **name)) {
        let known = TARGETS.map(|target| target.name).join(", ");
        bail!("there is no target {unknown}; the targets are {known}");
    }
    prerequisites::cxx()?;
    let binaries = build(workspace, OPT_LEVEL)?;
    let length = runs.map_or(Length::Minutes(*minutes), Length::Inputs);
    TARGETS
        .iter()
        .filter(|target| targets.is_empty() || targets.iter().any(|name| name == target.name))
        .try_for_each(|target| fuzz(workspace, &binaries, target, length))
}

/// How long a target runs.
#[derive(Clone, Copy)]
enum Length {
    Minutes(u32),
    /// So many inputs, from the seeds alone, so that it does the same everywhere.
    Inputs(u32),
}

fn fuzz(workspace: &Workspace, binaries: &Path, target: &Target, length: Length) -> Result<()> {
    let Target { name, longest, .. } = target;
    let found = workspace.target().join("fuzz").join(name);
    let (corpus, log) = match length {
        Length::Minutes(_) => (found.join("corpus"), found.join("log")),
        Length::Inputs(_) => (found.join("smoke"), found.join("smoke.log")),
    };
    match length {
        Length::Inputs(_) => package::replace_folder(&corpus)?,
        Length::Minutes(_) => {
            fs::create_dir_all(&corpus).with_context(|| format!("{} cannot be made", corpus.display()))?
        }
    }
    let tests = workspace.root().join("verify-wasm/hardening/tests");
    let mut fuzzer = Command::new(binaries.join(format!("fuzz-{name}")));
    fuzzer
        .args([&corpus, &tests.join("corpus").join(name)])
        .arg(format!("-artifact_prefix={}/", found.display()))
        .arg(format!("-dict={}", tests.join("json.dict").display()))
        .arg(format!("-max_len={longest}"))
        .args(["-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1"]);
    match length {
        Length::Minutes(minutes) => fuzzer.arg(format!("-max_total_time={}", minutes * 60)),
        Length::Inputs(inputs) => fuzzer.arg(format!("-runs={inputs}")).arg("-seed=1"),
    };
    report(name, &mut fuzzer, &log)
}

/// Runs a fuzzer with what it says in a file, and shows of that what tells how it went.
fn report(name: &str, fuzzer: &mut Command, log: &Path) -> Result<()> {
    println!("fuzzing {name}; what it says is in {}", log.display());
    let file = fs::File::create(log).with_context(|| format!("{} cannot be written", log.display()))?;
    let result = process::run(fuzzer.stderr(file));
    let said = fs::read(log).with_context(|| format!("{} cannot be read", log.display()))?;
    let said = String::from_utf8_lossy(&said);
    if result.is_err() {
        let lines: Vec<_> = said.lines().collect();
        println!("{}", lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default().join("\n"));
        return result;
    }
    let figures = said.lines().filter(|line| line.starts_with("stat::") || line.contains("DONE"));
    println!("{}", figures.collect::<Vec<_>>().join("\n"));
    Ok(())
}

/// Builds the targets and returns the folder they lie in.
fn build(workspace: &Workspace, opt_level: &str) -> Result<PathBuf> {
    let host = host()?;
    // What `cargo fuzz` passes, without the sanitizers. Naming the target keeps build scripts free of it.
    let mut flags =
        vec!["-Cpasses=sancov-module".to_owned(), "-Ccodegen-units=1".to_owned(), "--cfg=fuzzing".to_owned()];
    for argument in ["level=4", "inline-8bit-counters", "pc-table", "trace-compares"] {
        flags.push(format!("-Cllvm-args=-sanitizer-coverage-{argument}"));
    }
    process::run(
        process::cargo_in(workspace)
            .args(["build", "--package", PACKAGE, "--features", "libfuzzer", "--bins"])
            .args(["--profile", "fuzz", "--target", &host])
            .env("CARGO_PROFILE_FUZZ_OPT_LEVEL", opt_level)
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}")),
    )
    .context(
        "the fuzz targets could not be built: beside Rust they need a C++ compiler (Debian: build-essential)",
    )?;
    Ok(workspace.target().join(host).join("fuzz"))
}

/// The machine's own target.
fn host() -> Result<String> {
    let version = process::read(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}
