//! How many instructions a verdict takes says nothing about where a signature is wrong: counted by valgrind, exactly,
//! in an optimised build.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Probes of a group: one that holds, 64 that differ in one digit, one that differs in all; of Standard Webhooks, 44.
const PROBES: usize = 66;
const STANDARD_PROBES: usize = 46;
/// 1 of one secret alone, twice, and two of two secrets, twice; of Standard Webhooks each once; each in four orders.
const GROUPS: usize = 24 + 12;

#[test]
fn the_comparison_takes_the_same_instructions_wherever_a_digit_is_wrong() {
    let folder = std::env::temp_dir().join(format!("verify-timing-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--collect-atstart=no"])
        // Two patterns for one function: valgrind forgets the first option of a pattern that it meets again.
        .args(["--toggle-collect=*judge_once*", "--dump-after=*::judge_once*"])
        .arg(format!("--callgrind-out-file={}", folder.join("dump").display()))
        .arg(optimised_binary())
        .output()
        .expect("valgrind is needed: install it (on Debian: `apt install valgrind`)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let verdicts = String::from_utf8(output.stdout).unwrap();

    let mut groups: BTreeMap<&str, BTreeMap<u64, usize>> = BTreeMap::new();
    for (number, verdict) in verdicts.lines().enumerate() {
        let (_, word) = verdict.split_once(": ").unwrap();
        let expected = if verdict.contains("alone and wrong") { "invalid_signature" } else { "ok" };
        assert_eq!(word, expected, "{verdict}");
        let instructions = instructions(&folder.join(format!("dump.{}", number + 1)));
        *groups.entry(verdict).or_default().entry(instructions).or_default() += 1;
    }
    fs::remove_dir_all(&folder).unwrap();

    assert_eq!(groups.len(), GROUPS);
    for (group, counts) in groups {
        println!("{group}: {counts:?}");
        let all = if group.starts_with("standard-webhooks") { STANDARD_PROBES } else { PROBES };
        let probes = if group.contains("alone and wrong") { all - 1 } else { all };
        assert_eq!(counts.values().copied().collect::<Vec<_>>(), [probes], "{group}: {counts:?}");
        // A whole verdict: two blocks of SHA-256 alone are more than this.
        assert!(counts.keys().all(|count| *count > 5_000), "{group}: {counts:?}");
    }
}

/// The program as the service is built. Built here, because a test is given the unoptimised one.
fn optimised_binary() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--package", "verify-timing"])
        .args(["--message-format", "json-render-diagnostics"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).unwrap();
    let (_, rest) = messages.rsplit_once(r#""executable":""#).expect("cargo names the program");
    Path::new(rest.split('"').next().unwrap()).to_path_buf()
}

/// The sum that a dump of callgrind ends with.
fn instructions(dump: &Path) -> u64 {
    let text = fs::read_to_string(dump).unwrap_or_else(|error| panic!("{}: {error}", dump.display()));
    let total = text.lines().find_map(|line| line.strip_prefix("totals: ")).expect("a dump has totals");
    total.parse().unwrap()
}
