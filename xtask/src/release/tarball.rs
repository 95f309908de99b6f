//! The tarball: the binary, what an operator reads, and what watches and runs it (`deploy`).

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{Release, copy};
use crate::process;

/// What lies beside the binary, as in the checkout.
const DOCUMENTS: [&str; 9] = [
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs/contract.md",
    "docs/operations.md",
    "docs/receive.md",
    "docs/reliability.md",
    "docs/runbook.md",
    "docs/start.md",
];

/// Packs `authority-VERSION-x86_64-linux.tar.gz`, with one folder in it.
pub(super) fn pack(release: &Release<'_>, binary: &Path) -> Result<()> {
    let name = format!("authority-{}-x86_64-linux", release.version);
    let folder = release.staging.join(&name);
    copy(binary, &folder.join("authority"))?;
    for document in DOCUMENTS {
        copy(&release.source(document), &folder.join(document))?;
    }
    process::run(Command::new("cp").arg("-r").arg(release.source("deploy")).arg(&folder))?;
    release.tar(&release.staging, &[&name], &release.folder.join(format!("{name}.tar.gz")), true)
}
