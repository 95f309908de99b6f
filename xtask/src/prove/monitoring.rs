//! `deploy/monitoring` with the programs it is for: `promtool` checks and tests the alert rules, and a Prometheus that
//! scrapes a live authority evaluates them and answers the query of every panel
//! (`tests/tests/operations/monitoring.rs`).

use std::process::Command;

use anyhow::{Context as _, Result};

use super::ignored_tests;
use crate::process;
use crate::workspace::Workspace;

/// Tries the rules and the dashboard.
pub(super) fn run(workspace: &Workspace) -> Result<()> {
    let folder = workspace.root().join("deploy/monitoring");
    let promtool = || {
        let mut command = Command::new("promtool");
        command.current_dir(&folder);
        command
    };
    process::read(promtool().arg("--version"))
        .context("promtool and prometheus are needed (on Debian: `apt install prometheus`)")?;
    process::run(promtool().args(["check", "rules", "alerts.yml"]))?;
    process::run(promtool().args(["test", "rules", "alerts_test.yml"]))?;
    let test = "monitoring::a_live_prometheus_evaluates_all_of_it";
    ignored_tests::run(workspace, ["tests", "operations", test], &[])
}
