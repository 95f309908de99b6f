//! The tarball and the image, each as the whole of a root.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::packages::unpack;
use super::{Trial, plays_an_order};
use crate::process;

/// The binary is alone in its root: no library, no shell, no certificate, no name server.
pub(super) fn tarball(trial: &Trial<'_>) -> Result<()> {
    let folder = trial.empty("tarball")?;
    let tarball = trial.artifact("authority-", "-linux.tar.gz")?;
    unpack(&tarball, &folder)?;
    for file in ["LICENSE-MIT", "docs/operations.md", "deploy/systemd/authority.service"] {
        ensure!(folder.join(file).is_file(), "the tarball has no {file}");
    }
    let root = trial.empty("empty-root")?;
    fs::copy(folder.join("authority"), root.join("authority"))?;
    plays_an_order(&root, None, "/authority", "/data")
}

/// The image is unpacked by a program that checks its digests, and run as the user that it names.
pub(super) fn image(trial: &Trial<'_>) -> Result<()> {
    let layout = trial.empty("image-layout")?;
    let archive = trial.artifact("authority-", "-image.tar")?;
    let version = archive.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let version = version.trim_start_matches("authority-").trim_end_matches("-image.tar").to_owned();
    process::run(
        Command::new("tar").args(["--extract", "--file"]).arg(archive).arg("--directory").arg(&layout),
    )?;
    let bundle = trial.folder.join("image-bundle");
    let mut image = layout.into_os_string();
    image.push(format!(":{version}"));
    process::run(Command::new("umoci").args(["unpack", "--image"]).arg(image).arg(&bundle))?;
    let config: Value = serde_json::from_slice(&fs::read(bundle.join("config.json"))?)?;
    let process = config.get("process").context("the bundle's configuration has no process")?;
    ensure!(
        process.get("args") == Some(&serde_json::json!(["/usr/bin/authority", "serve"])),
        "the image starts {process}"
    );
    let user = process.get("user").context("the process has no user")?;
    let number = |name| user.get(name).and_then(Value::as_u64).context("the user is no number");
    let (uid, gid) = (number("uid")?, number("gid")?);
    ensure!(uid != 0 && gid != 0, "the image runs as root");
    plays_an_order(&bundle.join("rootfs"), Some(&format!("{uid}:{gid}")), "/usr/bin/authority", "/data/dev")
}
