//! One run of the command, and what it leaves in its directory.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn command(data: &Path, options: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_authority"));
    command.arg("dev").arg("--data").arg(data).args(options).env_clear().envs(environment.iter().copied());
    command
}

/// Exit code, standard output, standard error.
pub(crate) fn ended(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

pub(crate) fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    (folder, data)
}

pub(crate) fn kept(data: &Path) -> Value {
    serde_json::from_slice(&fs::read(data.join("dev.json")).unwrap()).unwrap()
}

/// Everything in the directory that must stay there.
pub(crate) fn secrets(data: &Path) -> Vec<String> {
    let kept = kept(data);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let kek = fs::read_to_string(data.join("kek")).unwrap();
    ["/operator_key", "/merchant_key", "/endpoint/secret"]
        .map(|member| text(kept.pointer(member).unwrap()))
        .into_iter()
        .chain([kek])
        .collect()
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
