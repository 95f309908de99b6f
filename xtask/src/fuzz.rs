//! `cargo xtask fuzz`: the fuzz targets of `verify-wasm/hardening` under libFuzzer.
//!
//! The targets are built with the compiler's coverage instrumentation, which stable Rust has (`-C passes`), and with
//! debug assertions and overflow checks, so that an arithmetic mistake is a panic. Then each runs: from the seed corpus and
//! what earlier runs found, for as many inputs (the test command) or minutes as are asked for. An input that
//! breaks a target ends the run and lies in `target/fuzz/<target>/`.
//!
//! Absent on purpose: the address sanitizer, which only a nightly compiler has. `verify-core` forbids `unsafe`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::workspace::Workspace;
use crate::{prerequisites, process};

const PACKAGE: &str = "verify-hardening";
/// Each of them with the longest input worth trying, in bytes.
const TARGETS: [(&str, usize); 5] =
    [("headers", 1024), ("secrets", 2048), ("json", 4096), ("verify", 2048), ("explain", 2048)];
/// What the test command tries of each.
const SMOKE_RUNS: u32 = 20_000;
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
    run(workspace, &Numbers { targets: Vec::new(), minutes: 0, runs: Some(SMOKE_RUNS) })
}

/// Runs the targets that are asked for.
pub(crate) fn run(workspace: &Workspace, numbers: &Numbers) -> Result<()> {
    if let Some(unknown) = numbers.targets.iter().find(|name| TARGETS.iter().all(|target| target.0 != **name))
    {
        bail!("there is no target {unknown}; the targets are {}", TARGETS.map(|target| target.0).join(", "));
    }
    prerequisites::cxx()?;
    let binaries = build(workspace)?;
    let chosen =
        |name: &str| numbers.targets.is_empty() || numbers.targets.iter().any(|chosen| chosen == name);
    for (name, longest) in TARGETS.into_iter().filter(|target| chosen(target.0)) {
        let found = workspace.target().join("fuzz").join(name);
        // The smoke run begins with the seeds alone, so that it does the same everywhere.
        let corpus = found.join(if numbers.runs.is_some() { "smoke" } else { "corpus" });
        if numbers.runs.is_some() && corpus.exists() {
            fs::remove_dir_all(&corpus).with_context(|| format!("{} cannot be emptied", corpus.display()))?;
        }
        fs::create_dir_all(&corpus).with_context(|| format!("{} cannot be made", corpus.display()))?;
        let tests = workspace.root().join("verify-wasm/hardening/tests");
        let mut fuzzer = Command::new(binaries.join(format!("fuzz-{name}")));
        fuzzer
            .args([&corpus, &tests.join("corpus").join(name)])
            .arg(format!("-artifact_prefix={}/", found.display()))
            .arg(format!("-dict={}", tests.join("json.dict").display()))
            .arg(format!("-max_len={longest}"))
            .args(["-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1"]);
        match numbers.runs {
            Some(runs) => fuzzer.arg(format!("-runs={runs}")).arg("-seed=1"),
            None => fuzzer.arg(format!("-max_total_time={}", numbers.minutes * 60)),
        };
        report(name, &mut fuzzer, &found.join("log"))?;
    }
    Ok(())
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
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let host = host()?;
    // What `cargo fuzz` passes, without the sanitizers. Naming the target keeps build scripts free of it.
    let mut flags =
        vec!["-Cpasses=sancov-module".to_owned(), "-Ccodegen-units=1".to_owned(), "--cfg=fuzzing".to_owned()];
    for argument in ["level=4", "inline-8bit-counters", "pc-table", "trace-compares"] {
        flags.push(format!("-Cllvm-args=-sanitizer-coverage-{argument}"));
    }
    process::run(
        process::cargo()
            .current_dir(workspace.root())
            .args(["build", "--package", PACKAGE, "--features", "libfuzzer", "--bins"])
            .args(["--profile", "fuzz", "--target", &host])
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
