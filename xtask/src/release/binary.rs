//! The one binary that every carrier has: linked with musl, without symbols, and without a path of this machine in it.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::Release;
use crate::prerequisites::MUSL_TARGET as TARGET;
use crate::process;

/// The most that the binary may have, in bytes.
const SIZE_MAX: u64 = 25_000_000;

/// Builds the authority, and refuses one that grew beyond its bound.
pub(super) fn build(release: &Release<'_>) -> Result<PathBuf> {
    let workspace = release.workspace;
    let (root, target) = (workspace.root().display(), workspace.target().display());
    let cargo_home = std::env::var("CARGO_HOME")
        .unwrap_or_else(|_| format!("{}/.cargo", std::env::var("HOME").unwrap_or_default()));
    let rust = format!(
        "--remap-path-prefix={root}=/authority --remap-path-prefix={target}=/target --remap-path-prefix={cargo_home}=/cargo"
    );
    // The C of SQLite, of the digests and of the allocator.
    let c = format!("-ffile-prefix-map={target}=/target -ffile-prefix-map={cargo_home}=/cargo");
    process::run(
        process::cargo_in(workspace)
            .args(["build", "--locked", "--profile", "dist", "--target", TARGET, "--package", "authority"])
            .env("RUSTFLAGS", rust)
            .env(format!("CFLAGS_{}", TARGET.replace('-', "_")), c)
            .env("SOURCE_DATE_EPOCH", &release.time),
    )?;
    let binary = workspace.target().join(TARGET).join("dist/authority");
    let size = fs::metadata(&binary)?.len();
    println!("the binary has {size} bytes");
    ensure!(size <= SIZE_MAX, "{size} bytes are more than {SIZE_MAX}");
    Ok(binary)
}
