//! The Debian package: the binary, its unit, its user, a key-encryption key made at installation, man pages, shell
//! completions and documents. `deploy/debian` has what dpkg runs and reads.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::{Release, copy};
use crate::process;

/// What dpkg runs.
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

/// From the checkout into the package.
const FILES: [(&str, &str); 8] = [
    ("deploy/systemd/authority.service", "usr/lib/systemd/system/authority.service"),
    ("deploy/debian/env", "etc/authority/env"),
    ("deploy/monitoring/alerts.yml", "usr/share/doc/authority/monitoring/alerts.yml"),
    ("deploy/monitoring/dashboard.json", "usr/share/doc/authority/monitoring/dashboard.json"),
    ("docs/contract.md", "usr/share/doc/authority/contract.md"),
    ("docs/operations.md", "usr/share/doc/authority/operations.md"),
    ("docs/runbook.md", "usr/share/doc/authority/runbook.md"),
    ("LICENSE-APACHE", "usr/share/doc/authority/LICENSE-APACHE"),
];

/// Packs `authority_VERSION_amd64.deb`.
pub(super) fn pack(release: &Release<'_>, binary: &Path) -> Result<()> {
    let root = release.staging.join("debian");
    copy(binary, &root.join("usr/bin/authority"))?;
    for (from, to) in FILES {
        copy(&release.source(from), &root.join(to))?;
    }
    copy(&release.source("LICENSE-MIT"), &root.join("usr/share/doc/authority/copyright"))?;
    generated(binary, &root)?;
    set_modes(&root, &["usr/bin/authority"])?;
    let size: u64 = process::read(
        Command::new("du").args(["--summarize", "--apparent-size", "--block-size=1024"]).arg(&root),
    )?
    .split_whitespace()
    .next()
    .context("du printed nothing")?
    .parse()?;
    let control = fs::read_to_string(release.source("deploy/debian/control"))?
        .replace("@VERSION@", &release.version)
        .replace("@INSTALLED_SIZE@", &size.to_string())
        .replace("@REPOSITORY@", &release.repository);
    let folder = root.join("DEBIAN");
    fs::create_dir(&folder)?;
    fs::write(folder.join("control"), control)?;
    for name in SCRIPTS.iter().chain(&["conffiles"]) {
        copy(&release.source(&format!("deploy/debian/{name}")), &folder.join(name))?;
    }
    set_modes(&folder, &SCRIPTS)?;
    let package = format!("authority_{}_amd64.deb", release.version);
    process::run(
        Command::new("dpkg-deb")
            .args(["--build", "--root-owner-group", "-Zxz"])
            .arg(&root)
            .arg(release.folder.join(package))
            .env("SOURCE_DATE_EPOCH", &release.time),
    )
}

/// What the binary writes about itself: its man pages and the completions of the shells.
fn generated(binary: &Path, root: &Path) -> Result<()> {
    let pages = root.join("usr/share/man/man1");
    fs::create_dir_all(&pages)?;
    process::run(Command::new(binary).arg("man").arg(&pages))?;
    for (shell, path) in [
        ("bash", "usr/share/bash-completion/completions/authority"),
        ("zsh", "usr/share/zsh/vendor-completions/_authority"),
        ("fish", "usr/share/fish/vendor_completions.d/authority.fish"),
    ] {
        let script = process::read(Command::new(binary).args(["completion", shell]))?;
        let file = root.join(path);
        fs::create_dir_all(file.parent().context("a completion has a folder")?)?;
        fs::write(&file, script + "\n")?;
    }
    Ok(())
}

/// Readable by all, and executable what is: dpkg-deb takes the modes that it finds.
fn set_modes(root: &Path, executable: &[&str]) -> Result<()> {
    process::run(Command::new("chmod").args(["--recursive", "u=rwX,go=rX"]).arg(root))?;
    for name in executable {
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}
