//! The compiler that cargo calls for the workspace's own crates in a test run: clippy's, and rustdoc for what it
//! compiled.
//!
//! A check and a documentation of their own ask for all dependencies once more, as metadata alone, and for our crates
//! twice: a quarter of what the whole run compiles. A crate that is being compiled has all of this at hand. So cargo is
//! told to call this program in place of the compiler (`RUSTC_WORKSPACE_WRAPPER`). It compiles with clippy's compiler,
//! which takes no longer than the plain one, and then has libraries and programs documented from the same arguments.
//! Warnings of either are errors, and cargo shows them as those of the crate.
//!
//! Absent on purpose: what `cargo doc` leaves out as well, which is tests, build scripts, and a program that shares its
//! name with a library.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::workspace::Workspace;
use crate::{prerequisites, process};

/// Says to this program that cargo calls it, and where clippy's compiler and rustdoc are.
const SYSROOT: &str = "XTASK_COMPILES_WITH";

/// What rustdoc is told of the arguments of the compiler, with one word each that follows.
const SHARED: [&str; 7] =
    ["--crate-name", "--crate-type", "--cfg", "--check-cfg", "--extern", "-L", "--target"];

/// The package whose programs are checked and documented, and not made: no test runs a benchmark, and
/// `cargo xtask bench` builds them itself, in release mode.
const WITHOUT_PROGRAMS: &str = "bench";

/// A cargo that calls this program for each crate of the workspace that it compiles. What another cargo has compiled of
/// the workspace is not reused.
pub(crate) fn cargo(workspace: &Workspace) -> Result<Command> {
    prerequisites::checkers()?;
    let mut cargo = process::cargo_in(workspace);
    cargo
        .env("RUSTC_WORKSPACE_WRAPPER", env::current_exe()?)
        .env(SYSROOT, prerequisites::sysroot()?)
        .env("CLIPPY_ARGS", "--deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    Ok(cargo)
}

/// Compiles the programs that the tests of their packages have not asked for.
pub(crate) fn programs(workspace: &Workspace) -> Result<()> {
    process::run(cargo(workspace)?.args(["build", "--bins"]).args(process::ALL_OTHERS))
}

/// Compiles, when it was cargo that called: with the compiler's name as the first argument. `None` when it was not.
pub(crate) fn called() -> Option<Result<()>> {
    let sysroot = env::var_os(SYSROOT)?;
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    Some(compile(&Path::new(&sysroot).join("bin"), &arguments))
}

fn compile(programs: &Path, arguments: &[OsString]) -> Result<()> {
    let (program, package) = (env::var("CARGO_BIN_NAME").ok(), env::var("CARGO_PKG_NAME").ok());
    let mut clippy = Command::new(programs.join("clippy-driver"));
    if program.is_some() && package.as_deref() == Some(WITHOUT_PROGRAMS) {
        // Cargo does not mind: `cargo rustc` lets anybody choose what is written.
        clippy.args(arguments.iter().filter(|argument| !is_emit(argument))).arg("--emit=dep-info,metadata");
    } else {
        clippy.args(arguments);
    }
    succeed(&mut clippy)?;
    let Some(told) = rustdoc_arguments(arguments, program.is_some()) else { return Ok(()) };
    if program.is_some() && program == package && has_library() {
        return Ok(());
    }
    let mut rustdoc = Command::new(programs.join("rustdoc"));
    rustdoc.args(told).args(["--deny", "warnings"]);
    if program.is_some() {
        rustdoc.args(["--document-private-items", "--allow", "rustdoc::private_intra_doc_links"]);
    }
    succeed(&mut rustdoc)
}

/// Whether an argument says what the compiler writes.
fn is_emit(argument: &OsStr) -> bool {
    argument.to_str().is_some_and(|text| text.starts_with("--emit="))
}

/// Whether the package that cargo compiles has a library.
fn has_library() -> bool {
    env::var_os("CARGO_MANIFEST_DIR").is_some_and(|folder| Path::new(&folder).join("src/lib.rs").exists())
}

/// What to tell rustdoc of a crate that the compiler was given so; `None` when it is not documented.
fn rustdoc_arguments(arguments: &[OsString], is_program: bool) -> Option<Vec<OsString>> {
    let is = |name: &str| arguments.iter().any(|argument| argument == name);
    let source =
        arguments.iter().find(|argument| Path::new(argument).extension() == Some(OsStr::new("rs")))?;
    let is_test = is("--test") && !is_program;
    if is_test || is("build_script_build") {
        return None;
    }
    let mut documented = vec![source.clone()];
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if SHARED.iter().any(|name| argument == name) {
            documented.extend([argument.clone(), rest.next()?.clone()]);
        } else if argument.to_str().is_some_and(|text| text.starts_with("--edition=")) {
            documented.push(argument.clone());
        } else if argument == "--out-dir" {
            documented.extend([argument.clone(), folder(Path::new(rest.next()?))?.into_os_string()]);
        }
    }
    Some(documented)
}

/// Where the documentation goes: beside what is compiled, a folder for all crates, as `cargo doc` has it.
fn folder(compiled: &Path) -> Option<PathBuf> {
    Some(compiled.parent()?.join("doc"))
}

fn succeed(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_owned();
    let status = command.status().with_context(|| format!("{} could not be started", program.display()))?;
    if status.success() { Ok(()) } else { bail!("{} failed: {status}", program.display()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn what_is_compiled_is_documented_from_the_same_arguments() {
        let compiled = "rustc --crate-name a --edition=2024 src/lib.rs --error-format=json --crate-type lib \
            --emit=dep-info,metadata,link --deny=missing_docs --cfg x -C metadata=1 --out-dir /t/debug/deps \
            -C incremental=/t -L dependency=/t/debug/deps --extern b=/t/debug/deps/libb.rmeta";
        let documented = "src/lib.rs --crate-name a --edition=2024 --crate-type lib --cfg x --out-dir /t/debug/doc \
            -L dependency=/t/debug/deps --extern b=/t/debug/deps/libb.rmeta";
        assert_eq!(rustdoc_arguments(&words(compiled), false), Some(words(documented)));
    }

    #[test]
    fn tests_and_build_scripts_and_questions_are_not_documented() {
        let test = "rustc --crate-name a src/lib.rs --test --out-dir /t/debug/deps";
        assert_eq!(rustdoc_arguments(&words(test), false), None);
        assert!(rustdoc_arguments(&words(test), true).is_some());
        assert_eq!(
            rustdoc_arguments(
                &words("rustc --crate-name build_script_build build.rs --crate-type bin"),
                false
            ),
            None
        );
        assert_eq!(rustdoc_arguments(&words("rustc - --crate-name ___ --print=file-names"), false), None);
    }
}
