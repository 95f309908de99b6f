//! The Debian package on a Debian that has nothing else: installed, run as its user, installed once more, and purged.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::Trial;
use crate::process;

/// The most that `systemd-analyze security` may say, in tenths.
const EXPOSURE_MAX: &str = "--threshold=20";

/// What the unit does: the settings of its file, as its user.
const AS_THE_UNIT: &str = "set -a; . /etc/authority/env; set +a; exec authority \"$@\"";

/// Tries the package.
pub(super) fn install(trial: &Trial<'_>) -> Result<()> {
    let root = trial.folder.join("debian-root");
    process::run(
        Command::new("debootstrap")
            .args(["--variant=minbase", "--include=adduser,procps,systemd", &codename()?])
            .arg(&root),
    )?;
    fs::copy(trial.artifact("authority_", ".deb")?, root.join("authority.deb"))?;
    inside(&root, &["dpkg", "--install", "/authority.deb"])?;
    let kek = root.join("etc/authority/kek");
    let first = fs::read(&kek)?;
    let modes = process::read(Command::new("chroot").arg(&root).args([
        "stat",
        "--format=%U:%G %a %s",
        "/etc/authority/kek",
        "/etc/authority/kek-previous",
    ]))?;
    ensure!(modes == "root:authority 640 45\nroot:authority 640 0", "the keys are {modes}");
    unit(&root)?;
    serves(&root)?;
    inside(&root, &["dpkg", "--install", "/authority.deb"])?;
    ensure!(fs::read(&kek)? == first, "a second installation changed the key");
    inside(&root, &["dpkg", "--purge", "authority"])?;
    ensure!(fs::read(&kek)? == first, "a purge took the key");
    ensure!(root.join("var/lib/authority/authority.db").is_file(), "a purge took the database");
    Ok(())
}

/// systemd understands the unit, finds its program, and rates its sandbox within the bound.
fn unit(root: &Path) -> Result<()> {
    let unit = root.join("usr/lib/systemd/system/authority.service");
    let image = format!("--root={}", root.display());
    process::run(
        Command::new("systemd-analyze").args(["security", "--offline=true", EXPOSURE_MAX]).arg(&unit),
    )?;
    process::run(Command::new("systemd-analyze").args(["verify", &image, "authority.service"]))
}

/// The database is made, an operator's key as well, and the service starts and stops in order.
fn serves(root: &Path) -> Result<()> {
    for words in [&["migrate"][..], &["operator-key", "create", "--name", "trial"], &["config", "check"]] {
        // Not shown: a key is among what they print.
        process::read(as_the_unit(root).args(words))?;
    }
    let mut service = as_the_unit(root)
        .arg("serve")
        .env("AUTHORITY_LISTEN", "127.0.0.1:0")
        .env("AUTHORITY_OPERATOR_LISTEN", "127.0.0.1:0")
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(service.stdout.take().context("its output is piped")?).read_line(&mut line)?;
    process::run(Command::new("kill").arg(service.id().to_string()))?;
    let status = service.wait()?;
    ensure!(
        line.starts_with("{\"ready\":true") && status.success(),
        "serve printed {line:?} and ended with {status}"
    );
    process::run(as_the_unit(root).arg("doctor"))
}

/// `authority`, to be given its words, in one process: what is started is what is stopped.
fn as_the_unit(root: &Path) -> Command {
    let mut command = Command::new("chroot");
    command.arg(root).args(["setpriv", "--reuid=authority", "--regid=authority", "--init-groups"]);
    command.args(["sh", "-c", AS_THE_UNIT, "authority"]);
    command
}

fn inside(root: &Path, words: &[&str]) -> Result<()> {
    process::run(Command::new("chroot").arg(root).args(words).env("DEBIAN_FRONTEND", "noninteractive"))
}

/// The Debian of this machine.
fn codename() -> Result<String> {
    let release = fs::read_to_string("/etc/os-release")?;
    let line = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    Ok(line.context("this machine is no Debian")?.to_owned())
}
