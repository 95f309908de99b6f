//! An upgrade without a pause: `tests/tests/campaign/upgrade.rs`, from the program before the newest migration.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Args;

use super::ignored_tests;
use crate::process;
use crate::workspace::Workspace;

/// Which program is upgraded from.
#[derive(Args)]
pub(crate) struct From {
    /// A commit; the one before the newest migration when it is left out.
    #[arg(long)]
    from: Option<String>,
}

/// Whether the schema has no migration after the first.
fn is_first(folder: &Path) -> Result<bool> {
    Ok(std::fs::read_dir(folder).context("the migrations cannot be listed")?.count() < 2)
}

/// Builds the program before, and runs the test with it.
pub(super) fn run(workspace: &Workspace, from: &From) -> Result<()> {
    let root = workspace.root();
    let revision = match &from.from {
        Some(revision) => revision.clone(),
        None if is_first(&root.join("authority/store/migrations/postgres"))? => {
            println!("the schema has one migration: no program is before it. Name one with --from.");
            return Ok(());
        }
        None => {
            let git = ["log", "-1", "--first-parent", "--format=%H", "--", "authority/store/migrations"];
            let newest = process::read(Command::new("git").current_dir(root).args(git))?;
            format!("{}^", newest.trim())
        }
    };
    println!("upgrading from {revision}");
    let folder = workspace.target().join("upgrade");
    let source = folder.join("source");
    std::fs::create_dir_all(&folder).context("target/upgrade cannot be made")?;
    if source.exists() {
        std::fs::remove_dir_all(&source).context("target/upgrade/source cannot be removed")?;
    }
    process::run(Command::new("git").args(["clone", "--quiet"]).arg(root).arg(&source))?;
    let checkout = ["checkout", "--quiet", "--detach", &revision];
    // The clone has no more than what is committed, which is all that was ever a version.
    process::run(Command::new("git").current_dir(&source).args(checkout))?;
    let target = folder.join("target");
    process::run(
        process::cargo()
            .current_dir(&source)
            .args(["build", "--release", "--quiet", "--package", "authority"])
            .env("CARGO_TARGET_DIR", &target),
    )?;
    let binary = target.join("release/authority").display().to_string();
    let test = ["tests", "campaign", "upgrade::instances_are_exchanged_under_load"];
    ignored_tests::run(workspace, test, &[("UPGRADE_FROM", binary)])
}
