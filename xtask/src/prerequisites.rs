//! What the machine must have, checked before it is used, with one sentence each on how to get it.
//!
//! Rust is there, or this program would not run. Node, npm, PostgreSQL, Chromium, Python, curl, ip and sqlite3 may be
//! missing, which is reported. So may parts of the Rust toolchain (a minimal installation has neither rustfmt nor
//! clippy, and none has the `wasm32-unknown-unknown` standard library); they are fetched with rustup.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::process;

/// The target of the released binary: static, so that no version of a C library is waited for.
pub(crate) const MUSL_TARGET: &str = "x86_64-unknown-linux-musl";

/// The target of everything that runs in Node, browsers and Workers.
pub(crate) const WASM_TARGET: &str = "wasm32-unknown-unknown";

const NODE_MAJOR_MIN: u32 = 20;

/// Checks all that the test command needs, and fetches what rustup can.
pub(crate) fn all() -> Result<()> {
    node()?;
    postgres()?;
    on_path()?;
    cxx()?;
    chromium()?;
    python()?;
    curl()?;
    checkers()?;
    wasm_target()
}

/// Checks that `node` (20 or newer) and `npm` are on the PATH.
pub(crate) fn node() -> Result<()> {
    let version = process::read(Command::new("node").arg("--version"))
        .context("Node.js 20 or newer is needed: install it (Debian 13: `apt install nodejs npm`; otherwise https://nodejs.org)")?;
    accept_node(&version)?;
    process::read(Command::new("npm").arg("--version"))
        .context("npm is needed: install it beside Node.js (on Debian: `apt install npm`)")?;
    Ok(())
}

/// Checks that the tests have a PostgreSQL: a server that `DATABASE_URL` names, or the programs to start one with.
pub(crate) fn postgres() -> Result<()> {
    let on_path = env::var_os("PATH").unwrap_or_default();
    // Debian keeps the programs of each version in a folder of their own.
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders: Vec<PathBuf> =
        env::split_paths(&on_path).chain(debian.map(|version| version.path().join("bin"))).collect();
    accept_postgres(env::var_os("DATABASE_URL").is_some(), &folders)
}

fn accept_postgres(server_is_named: bool, folders: &[PathBuf]) -> Result<()> {
    for program in ["initdb", "pg_ctl"] {
        if !server_is_named && !folders.iter().any(|folder| folder.join(program).is_file()) {
            bail!(
                "PostgreSQL is needed ({program} was not found): install it (on Debian: `apt install postgresql`), \
                 or set DATABASE_URL to a server on which the tests may make databases"
            );
        }
    }
    Ok(())
}

/// Checks that there is a Chromium for the tests of pages: what `CHROMIUM` names, or Debian's.
pub(crate) fn chromium() -> Result<()> {
    let program = env::var_os("CHROMIUM").map_or_else(|| PathBuf::from("/usr/bin/chromium"), PathBuf::from);
    if !program.is_file() {
        bail!(
            "Chromium is needed ({} was not found): install it (on Debian: `apt install chromium`), or set CHROMIUM to the \
             program of one",
            program.display()
        );
    }
    Ok(())
}

/// Checks that there is a Python, 3.11 or newer, that can make virtual environments. Debian has that part in a
/// package of its own.
pub(crate) fn python() -> Result<()> {
    let program = "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))";
    process::read(Command::new("python3").args(["-c", program])).context(
        "Python 3.11 or newer with venv is needed: install it (on Debian: `apt install python3 python3-venv`)",
    )?;
    Ok(())
}

/// Checks that `curl` is on the PATH, 7.76 or newer; the samples of the API's operations are run with it.
pub(crate) fn curl() -> Result<()> {
    let program = ["--fail-with-body", "--version"];
    process::read(Command::new("curl").args(program))
        .context("curl 7.76 or newer is needed: install it (on Debian: `apt install curl`)")?;
    Ok(())
}

/// Checks that programs of which any version will do are on the PATH: `valgrind` counts the instructions of a verdict,
/// tests join machines of their own with `ip`, operators make backups with `sqlite3`, as the test of
/// `docs/operations.md` does.
fn on_path() -> Result<()> {
    for (program, option, package) in
        [("valgrind", "--version", "valgrind"), ("ip", "-V", "iproute2"), ("sqlite3", "--version", "sqlite3")]
    {
        process::read(Command::new(program).arg(option)).with_context(|| {
            format!("{program} is needed: install it (on Debian: `apt install {package}`)")
        })?;
    }
    Ok(())
}

/// Checks that what the documents' samples run in is there, beside Node and Python. Whatever is missing is named at
/// once.
pub(crate) fn sample_programs() -> Result<()> {
    let needed: [(&[&str], &str); 6] = [
        (&["go", "version"], "golang-go"),
        (&["php", "--version"], "php-cli"),
        (&["ruby", "--version"], "ruby"),
        (&["javac", "--version"], "default-jdk-headless"),
        (&["openssl", "version"], "openssl"),
        (&["curl", "--version"], "curl"),
    ];
    present(&needed, "the samples (Go 1.19, PHP 8.1, Ruby 3.0 and Java 17, or newer)")
}

/// Checks that each program answers; otherwise names all that do not, with Debian's packages of them.
pub(crate) fn present(needed: &[(&[&str], &str)], purpose: &str) -> Result<()> {
    let is_missing = |line: &[&str]| {
        let Some((program, options)) = line.split_first() else { return false };
        !Command::new(program).args(options).output().is_ok_and(|output| output.status.success())
    };
    let missing: Vec<_> = needed.iter().filter(|(line, _)| is_missing(line)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let programs: Vec<_> = missing.iter().filter_map(|(line, _)| line.first().copied()).collect();
    let packages: Vec<_> = missing.iter().map(|(_, package)| *package).collect();
    bail!(
        "{} not found, needed for {purpose} (on Debian: `apt install {}`)",
        programs.join(", "),
        packages.join(" ")
    )
}

/// Checks that there is a C++ compiler, which libFuzzer is built with.
pub(crate) fn cxx() -> Result<()> {
    let compiler = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    process::read(Command::new(compiler).arg("--version")).context(
        "a C++ compiler is needed: install it (on Debian: `apt install build-essential`), or set CXX to one",
    )?;
    Ok(())
}

/// Makes sure that rustfmt and clippy are installed, fetching them with rustup when they are not.
pub(crate) fn checkers() -> Result<()> {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        let installed =
            process::cargo().args([subcommand, "--version"]).output().is_ok_and(|o| o.status.success());
        if !installed {
            process::run(Command::new("rustup").args(["component", "add", component])).with_context(|| {
                format!(
                    "`cargo {subcommand}` is missing and rustup could not add it: install Rust with rustup \
                     (https://rustup.rs) and run `rustup component add {component}` while online"
                )
            })?;
        }
    }
    Ok(())
}

/// Checks that the programs are there that a release is packed with, all of them Debian's.
pub(crate) fn release_programs() -> Result<()> {
    let needed: [(&[&str], &str); 4] = [
        (&["musl-gcc", "--version"], "musl-tools"),
        (&["dpkg-deb", "--version"], "dpkg"),
        (&["tar", "--version"], "tar"),
        (&["git", "--version"], "git"),
    ];
    present(&needed, "a release")
}

/// Makes sure the standard library for [`WASM_TARGET`] is installed, fetching it with rustup when it is not.
pub(crate) fn wasm_target() -> Result<()> {
    target(WASM_TARGET)
}

/// The same for the target of released binaries.
pub(crate) fn musl_target() -> Result<()> {
    target(MUSL_TARGET)
}

fn target(name: &str) -> Result<()> {
    if sysroot()?.join("lib/rustlib").join(name).is_dir() {
        return Ok(());
    }
    process::run(Command::new("rustup").args(["target", "add", name])).with_context(|| {
        format!(
            "the Rust standard library for {name} is missing and rustup could not add it: \
             install Rust with rustup (https://rustup.rs) and run `rustup target add {name}` while online"
        )
    })
}

/// The folder of the compiler in use.
pub(crate) fn sysroot() -> Result<PathBuf> {
    let path = process::read(Command::new("rustc").args(["--print", "sysroot"]))
        .context("rustc is not on the PATH beside cargo")?;
    Ok(Path::new(&path).to_path_buf())
}

fn accept_node(version: &str) -> Result<()> {
    let major = version.strip_prefix('v').and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
    match major {
        Some(major) if major >= NODE_MAJOR_MIN => Ok(()),
        _ => bail!("Node.js {NODE_MAJOR_MIN} or newer is needed; `node --version` says {version}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_versions() {
        for accepted in ["v20.0.0", "v20.20.2", "v24.1.0", "v100.0.0"] {
            assert!(accept_node(accepted).is_ok(), "{accepted}");
        }
        for refused in ["v18.19.1", "v9.0.0", "20.0.0", "", "v"] {
            assert!(accept_node(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn postgres_is_a_server_or_its_programs() {
        let folder = env::temp_dir().join(format!("xtask-postgres-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let accepted = |server_is_named| accept_postgres(server_is_named, std::slice::from_ref(&folder));
        assert!(accepted(true).is_ok());
        fs::write(folder.join("initdb"), "").unwrap();
        assert!(accepted(false).unwrap_err().to_string().contains("pg_ctl was not found"));
        fs::write(folder.join("pg_ctl"), "").unwrap();
        assert!(accepted(false).is_ok());
        fs::remove_dir_all(&folder).unwrap();
    }
}
