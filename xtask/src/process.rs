//! Runs other programs, with failures that name the command.
//!
//! A step hands in a prepared [`Command`]. [`run`] shows the command line, lets the child write straight to the
//! terminal, and fails unless it exits with 0; [`read`] collects standard output instead. Either error says
//! which command it was and how it ended, because the cause is usually a screen further up.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::workspace::Workspace;

/// Runs `command` with its output visible and fails unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = command_line(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("`{line}` could not be started"))?;
    if !status.success() {
        bail!("`{line}` failed: {status}");
    }
    Ok(())
}

/// Runs `command` and returns its standard output without the outer whitespace.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let line = command_line(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("`{line}` could not be started"))?;
    if !output.status.success() {
        bail!("`{line}` failed: {}", output.status);
    }
    let text = String::from_utf8(output.stdout)
        .with_context(|| format!("`{line}` printed something that is not UTF-8"))?;
    Ok(text.trim().to_owned())
}

/// What cargo builds in one go: everything but this program. Its own dependencies are there already, built with the
/// features that it alone asks for; together with the others they would be compiled once more.
pub(crate) const ALL_OTHERS: [&str; 3] = ["--workspace", "--exclude", "xtask"];

/// [`cargo`] in the workspace's folder.
pub(crate) fn cargo_in(workspace: &Workspace) -> Command {
    let mut cargo = cargo();
    cargo.current_dir(workspace.root());
    cargo
}

/// The cargo that runs this program, so that a chosen toolchain (`cargo +…`) stays the chosen one.
///
/// It is not told which package this program is of: ring's build script asks for those variables, so that everything
/// that depends on it would be compiled once more after a `cargo` that somebody typed.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let ours = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(ours)) {
        cargo.env_remove(name);
    }
    cargo
}

fn command_line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_named_with_its_status() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "`sh -c exit 3` failed: exit status: 3");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = read(&mut Command::new("no-such-program-here")).unwrap_err();
        assert_eq!(error.to_string(), "`no-such-program-here` could not be started");
    }

    #[test]
    fn what_a_command_prints_is_returned_trimmed() {
        assert_eq!(read(Command::new("printf").arg(" v20.1\n")).unwrap(), "v20.1");
    }
}
