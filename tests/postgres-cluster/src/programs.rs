//! Finding PostgreSQL's programs, and running them as somebody they agree to run as.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian puts a version's programs; only some of them are on the PATH.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The path of one of PostgreSQL's programs.
///
/// # Panics
/// When it is not installed.
pub(crate) fn find(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut versions: Vec<PathBuf> =
        fs::read_dir(DEBIAN).into_iter().flatten().flatten().map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    std::env::split_paths(&path)
        .chain(versions.into_iter().rev())
        .map(|folder| folder.join(program))
        .find(|path| is_program(path))
        .unwrap_or_else(|| {
            panic!("{program} is not installed: on Debian `apt install postgresql`, or set DATABASE_URL to a server")
        })
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// The user and group that a server is run as.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Owner {
    /// `None` when this process may run the server itself: it is not root.
    pub(crate) fn needed() -> Option<Self> {
        // /proc/self belongs to the effective user.
        if fs::metadata("/proc/self").is_ok_and(|process| process.uid() != 0) {
            return None;
        }
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let found = ["postgres", "nobody"].iter().find_map(|name| {
            let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
            let mut ids = line.split(':').skip(2);
            Some(Self { uid: ids.next()?.parse().ok()?, gid: ids.next()?.parse().ok()? })
        });
        Some(found.expect("PostgreSQL refuses root, and there is neither a user postgres nor nobody"))
    }
}

/// A command that runs `program` as `owner`.
pub(crate) fn command(owner: Option<Owner>, program: impl AsRef<OsStr>) -> Command {
    let Some(Owner { uid, gid }) = owner else { return Command::new(program) };
    let mut command = Command::new("setpriv");
    command.arg(format!("--reuid={uid}")).arg(format!("--regid={gid}")).arg("--clear-groups").arg(program);
    command
}
