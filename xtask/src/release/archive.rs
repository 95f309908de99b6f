//! Tar archives of which the same content gives the same bytes: names in order, one time, no owner, fixed modes.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::Release;
use crate::process;

impl Release<'_> {
    /// Packs `members` of `folder` into `to`. `compressed` is gzip, without name and time.
    pub(super) fn tar(&self, folder: &Path, members: &[&str], to: &Path, compressed: bool) -> Result<()> {
        let mut tar = Command::new("tar");
        tar.args(["--create", "--format=gnu", "--sort=name", "--numeric-owner", "--owner=0", "--group=0"]);
        tar.arg(format!("--mtime=@{}", self.time)).arg("--mode=u=rwX,go=rX");
        if compressed {
            tar.arg("--use-compress-program=gzip -9 --no-name");
        }
        process::run(tar.arg("--file").arg(to).arg("--directory").arg(folder).args(members))
    }
}
