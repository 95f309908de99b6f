//! Builds the test programs of the workspace and runs several of them at a time.
//!
//! `cargo test` runs one after the other, and most of them wait most of the time: for a receiver that is slow on
//! purpose, for a server that restarts, for a lease that runs out. So cargo builds them and says where they are, and
//! they run side by side, the ones that took longest first. Each runs in the folder of its package, as under cargo,
//! with what it prints collected: a program that passes is one line, one that fails is shown whole, and what its tests
//! panicked with once more at the end of the run, where it is seen. The examples in the documentation are one more job.
//! A package has few test programs: each links the whole workspace, and starts a database server of its own.
//!
//! Absent on purpose: retries, and a bound on a program's time. Tests bound their own waits.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context as _, Result, bail};
use cargo_metadata::{Artifact, Message};

use crate::checks::timed;
use crate::workspace::Workspace;
use crate::{compiler, npm, process, worker};

/// How many more programs run at a time than there are cores. One keeps the cores busy while others wait. With more,
/// each only takes longer, and services without processor time refuse requests.
const MORE_THAN_CORES: usize = 1;

/// Tests that a program runs at a time. One more than there are cores, where that is two: most tests wait.
const TESTS_AT_A_TIME: usize = 3;

/// Those that run longest, by package and target, so that they begin first.
const LONGEST: [&str; 9] = [
    "simulation seeds",
    "tests delivery_campaign",
    "tests acceptance",
    "tests deliveries",
    "tests worker",
    "tests api",
    "tests operations",
    "tests campaign",
    "tests faults",
];

/// One thing to run.
struct Job {
    name: String,
    command: Command,
}

/// How a job ended.
struct JobResult {
    line: String,
    /// All that it printed, when it failed.
    failure: Option<String>,
}

/// Builds everything, then runs it.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    // What several of them would otherwise install and build for themselves, into the same folders.
    npm::install(&workspace.root().join("tests/node"))?;
    worker::build(workspace)?;
    let mut programs = build(workspace, &process::ALL_OTHERS)?;
    programs.extend(build(workspace, &["--package", "xtask"])?);
    compiler::programs(workspace)?;
    let mut jobs: Vec<Job> = programs.iter().map(|program| job(workspace, program)).collect();
    jobs.push(documentation(workspace)?);
    jobs.sort_by_key(|job| LONGEST.iter().position(|name| *name == job.name).unwrap_or(LONGEST.len()));
    let workers = MORE_THAN_CORES + thread::available_parallelism().map_or(1, usize::from);
    let failed = side_by_side(jobs, workers)?;
    if failed.is_empty() { Ok(()) } else { bail!("these test programs failed:\n{}", failed.join("\n")) }
}

/// A test program that cargo has built.
struct Program {
    name: String,
    path: PathBuf,
    folder: PathBuf,
}

fn build(workspace: &Workspace, packages: &[&str]) -> Result<Vec<Program>> {
    let arguments = ["test", "--no-run", "--message-format", "json-render-diagnostics"];
    let mut command = compiler::cargo(workspace)?;
    command.args(arguments).args(packages).stdout(Stdio::piped());
    let mut cargo = command.spawn().context("cargo could not be started")?;
    let output = cargo.stdout.take().context("cargo has no output")?;
    let mut programs = Vec::new();
    for message in Message::parse_stream(std::io::BufReader::new(output)) {
        if let Message::CompilerArtifact(artifact) = message.context("cargo said what is not understood")? {
            programs.extend(program(workspace, &artifact));
        }
    }
    let status = cargo.wait().context("cargo did not end")?;
    if !status.success() {
        bail!("`cargo test --no-run` failed: {status}");
    }
    Ok(programs)
}

fn program(workspace: &Workspace, artifact: &Artifact) -> Option<Program> {
    let path = artifact.executable.as_ref().filter(|_| artifact.profile.test)?;
    let package = workspace.packages().iter().find(|package| package.id == artifact.package_id)?;
    let folder = package.manifest_path.parent()?;
    Some(Program {
        name: format!("{} {}", package.name, artifact.target.name),
        path: path.clone().into_std_path_buf(),
        folder: folder.as_std_path().to_owned(),
    })
}

fn job(workspace: &Workspace, program: &Program) -> Job {
    let mut command = Command::new(&program.path);
    command
        .current_dir(&program.folder)
        .env("CARGO_MANIFEST_DIR", &program.folder)
        .env("RUST_TEST_THREADS", TESTS_AT_A_TIME.to_string())
        // Some tests panic on purpose inside a transaction. On a busy machine a backtrace of a debug build takes longer
        // than the database waits.
        .env("RUST_BACKTRACE", "0")
        .envs(what_is_built(workspace.target()));
    Job { name: program.name.clone(), command }
}

fn documentation(workspace: &Workspace) -> Result<Job> {
    let mut command = compiler::cargo(workspace)?;
    command.args(["test", "--doc"]).args(process::ALL_OTHERS);
    Ok(Job { name: "examples in the documentation".to_owned(), command })
}

/// What the kit need not build again. On its own it would build the authority with the features of one package
/// instead of the workspace's, all dependencies anew.
fn what_is_built(target: &Path) -> [(&'static str, PathBuf); 2] {
    [("AUTHORITY_BINARY", target.join("debug/authority")), ("EDGE_RECEIVER_IS_BUILT", "yes".into())]
}

/// Runs all jobs, so many at a time, and says which failed, and of what.
fn side_by_side(jobs: Vec<Job>, workers: usize) -> Result<Vec<String>> {
    let jobs = Mutex::new(VecDeque::from(jobs));
    let next = || jobs.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop_front();
    let work = || -> Result<Vec<String>> {
        let mut failed = Vec::new();
        while let Some(mut job) = next() {
            let ended = end(&mut job)?;
            println!("{}", ended.line);
            if let Some(output) = ended.failure {
                println!("{output}");
                failed.push(format!("{}\n{}", job.name, reason(&output)));
            }
        }
        Ok(failed)
    };
    let ended = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(thread::ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    let mut failed = Vec::new();
    for thread in ended {
        let Ok(result) = thread else { bail!("a thread that runs test programs has ended in a panic") };
        failed.extend(result?);
    }
    Ok(failed)
}

fn end(job: &mut Job) -> Result<JobResult> {
    let (output, time) = timed(|| job.command.stdin(Stdio::null()).output());
    let output = output.with_context(|| format!("{} could not be started", job.name))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (outcome, seconds) = (if output.status.success() { "passed" } else { "FAILED" }, time.as_secs_f64());
    let line = format!("{outcome} {seconds:>6.1} s  {}: {}", job.name, counts(&text));
    let whole = || format!("{text}{}\n{}", String::from_utf8_lossy(&output.stderr), output.status);
    Ok(JobResult { line, failure: (!output.status.success()).then(whole) })
}

/// How many characters of a failure are shown once more.
const REASON_MAX: usize = 4_000;

/// What the test harness says of the tests that failed; the end of the output when it says nothing.
fn reason(output: &str) -> String {
    // Twice: with what each test said, and as a list of names.
    if let Some(said) = output.split("\nfailures:\n").nth(1) {
        return said.trim().chars().take(REASON_MAX).collect();
    }
    let beyond = output.chars().count().saturating_sub(REASON_MAX);
    output.chars().skip(beyond).collect::<String>().trim().to_owned()
}

/// What the test harness counted, of all its reports.
fn counts(output: &str) -> String {
    let count = |what: &str| -> u64 {
        let reports = output.lines().filter_map(|line| line.strip_prefix("test result: "));
        let parts = reports.flat_map(|report| report.split([';', '.']));
        parts.filter_map(|part| part.trim().strip_suffix(what)?.trim().parse::<u64>().ok()).sum()
    };
    format!("{} passed, {} failed, {} ignored", count(" passed"), count(" failed"), count(" ignored"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(name: &str, script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job { name: name.to_owned(), command }
    }

    #[test]
    fn every_job_runs_and_those_that_fail_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let touch = |name: &str| format!("touch {}", folder.path().join(name).display());
        let jobs = vec![
            shell("a", &touch("a")),
            shell("b", "exit 1"),
            shell("c", &touch("c")),
            shell("d", "exit 2"),
        ];
        let mut failed = side_by_side(jobs, 2).unwrap();
        failed.sort();
        assert_eq!(failed, ["b\nexit status: 1", "d\nexit status: 2"]);
        assert!(folder.path().join("a").exists() && folder.path().join("c").exists());
    }

    #[test]
    fn a_failure_shows_all_that_was_printed_and_a_success_a_line() {
        let failed = end(&mut shell("x", "echo out; echo err >&2; exit 1")).unwrap();
        assert!(failed.line.starts_with("FAILED"));
        assert_eq!(failed.failure.unwrap(), "out\nerr\n\nexit status: 1");
        let report =
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s";
        let passed = end(&mut shell("x", &format!("echo '{report}'; echo '{report}'"))).unwrap();
        assert!(passed.failure.is_none());
        assert!(passed.line.ends_with("x: 6 passed, 0 failed, 2 ignored"), "{}", passed.line);
    }

    #[test]
    fn a_failure_is_told_by_what_its_tests_said() {
        let report = "\nrunning 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\n\n\
            thread 'b' panicked at src/b.rs:1:2:\n3 is not 4\n\nfailures:\n    b\n\ntest result: FAILED. 1 passed";
        assert_eq!(reason(report), "---- b stdout ----\n\nthread 'b' panicked at src/b.rs:1:2:\n3 is not 4");
        assert_eq!(reason(&format!("{}killed\n", "x".repeat(5_000))), format!("{}killed", "x".repeat(3_993)));
    }
}
