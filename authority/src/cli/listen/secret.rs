//! The signing secret of a session: that of `--secret-env`, or that of this user on this machine.
//!
//! The first session makes the machine's secret and keeps it in `authority/signing-secret` in the directory for
//! state (`XDG_STATE_HOME`, else `~/.local/state`), closed to other users. So a receiver can be configured once. To
//! change the secret, remove the file. A file that is damaged or open to others is refused, never replaced: a
//! receiver may rely on it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use verify_core::{Secret, secret};
use zeroize::Zeroizing;

use super::Failure;
use crate::cli::secrets;
use crate::config::Lookup;
use crate::dice::{Dice as _, SystemDice};

/// What follows the prefix of a secret that [`secret::generate`] made: base62 characters.
const DIGITS: usize = 43;

/// The secret, as text.
///
/// # Errors
/// [`Failure::Usage`] for `--secret-env`, [`Failure::Failed`] when the file cannot be used.
pub(super) fn of_session(
    variable: Option<OsString>,
    environment: Lookup<'_>,
) -> Result<Zeroizing<String>, Failure> {
    let Some(variable) = variable else { return of_machine(&path(environment)?) };
    let named = secrets::from_environment("--secret-env", vec![variable], environment)?.pop();
    Ok(named.map(|named| named.text).unwrap_or_default())
}

/// The secret, if deliveries can be signed with it.
pub(super) fn usable(secret: &str) -> Result<Secret, Failure> {
    let unusable =
        |_| Failure::Usage("--secret-env does not name a usable signing secret (whsec_…)".to_owned());
    Secret::parse(secret).map_err(unusable)
}

fn path(environment: Lookup<'_>) -> Result<PathBuf, Failure> {
    // The XDG base directories must be absolute, and others count as not set.
    let folder = |name| environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")));
    let nowhere =
        || Failure::Usage("HOME must be set, to keep the signing secret; or give --secret-env".to_owned());
    Ok(state.ok_or_else(nowhere)?.join("authority").join("signing-secret"))
}

/// The secret in this file, which is made if it does not exist.
fn of_machine(path: &Path) -> Result<Zeroizing<String>, Failure> {
    if let Some(kept) = read(path)? {
        return Ok(kept);
    }
    make(path).map_err(|error| failed(path, &error.to_string()))?;
    // If two sessions start at once, both use the secret that was made first.
    read(path)?.ok_or_else(|| failed(path, "it was removed meanwhile"))
}

fn read(path: &Path) -> Result<Option<Zeroizing<String>>, Failure> {
    let text = match fs::read(path) {
        Ok(bytes) => Zeroizing::new(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(path, &error.to_string())),
    };
    let mode = fs::metadata(path).map_err(|error| failed(path, &error.to_string()))?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(failed(path, "it is open to other users: remove it to have a new secret made"));
    }
    let damaged = || failed(path, "it is damaged: restore it, or remove it to have a new secret made");
    let text = str::from_utf8(&text).map_err(|_| damaged())?.trim_end();
    // A part of a secret could be used, but it is not what was written.
    let digits = text.strip_prefix(secret::PREFIX).unwrap_or_default();
    if digits.len() != DIGITS || !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(damaged());
    }
    Ok(Some(Zeroizing::new(text.to_owned())))
}

/// Writes a new secret, whole or not at all. A file that is there by then stays.
fn make(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut random = Zeroizing::new([0; 32]);
    SystemDice.fill(&mut *random);
    let text = Zeroizing::new(secret::generate(*random));
    // `tempfile` makes files with mode 0600.
    let mut file = NamedTempFile::new_in(folder)?;
    writeln!(file, "{}", *text)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Err(refused) if refused.error.kind() != io::ErrorKind::AlreadyExists => Err(refused.error),
        _ => Ok(()),
    }
}

fn failed(path: &Path, reason: &str) -> Failure {
    Failure::Failed(format!("the signing secret in {} cannot be used: {reason}", path.display()))
}
