//! What memory a process takes, as Linux tells under `/proc`.

use std::fs;

/// The most memory that the process ever held, in MiB.
///
/// # Panics
/// When there is no such process.
#[must_use]
pub fn peak_memory_mib(pid: u32) -> u64 {
    status_kb(pid, "VmHWM:") / 1024
}

/// The memory that the process holds, in MiB.
///
/// # Panics
/// When there is no such process.
#[must_use]
pub fn memory_mib(pid: u32) -> f64 {
    status_kb(pid, "VmRSS:") as f64 / 1024.0
}

fn status_kb(pid: u32, member: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(member)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
