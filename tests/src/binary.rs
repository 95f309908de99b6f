//! The built `authority`, and the cargo that builds it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::LazyLock;

use serde_json::Value;
use tokio::process::Command;

/// A command of the binary on nothing that a test has made: no file, no variable.
#[must_use]
pub fn lone(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments).env_clear().stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// The cargo that runs this program. It is not told which package that is of: ring's build script asks for it, and
/// all that depends on ring would be compiled once more.
pub(crate) fn cargo() -> std::process::Command {
    let mut cargo = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let ours = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(ours)) {
        cargo.env_remove(name);
    }
    cargo
}

/// The binary. `AUTHORITY_BINARY` names one that is already built, as `cargo xtask test` does. Else it is built at the
/// first call, so that no test runs against what the sources were yesterday; in the profile that the caller was built
/// in, so that a benchmark measures a release build.
#[must_use]
pub fn binary() -> &'static Path {
    static BINARY: LazyLock<PathBuf> = LazyLock::new(|| {
        if let Some(built) = std::env::var_os("AUTHORITY_BINARY") {
            return PathBuf::from(built);
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let arguments = ["build", "--quiet", "--package", "authority", "--message-format", "json"];
        let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
        let built = cargo()
            .current_dir(root)
            .args(arguments)
            .args(["--profile", profile])
            .stderr(Stdio::inherit())
            .output()
            .expect("cargo must be on the PATH");
        assert!(built.status.success(), "authority could not be built");
        let messages = String::from_utf8(built.stdout).unwrap();
        let executable = |line: &str| {
            let message: Value = serde_json::from_str(line).ok()?;
            message["executable"]
                .as_str()
                .filter(|_| message["target"]["name"] == "authority")
                .map(PathBuf::from)
        };
        messages.lines().find_map(executable).expect("cargo names the executable")
    });
    &BINARY
}
