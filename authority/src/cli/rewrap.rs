//! `authority secrets rewrap`: reseals everything that is under the previous key-encryption key with the current one.
//!
//! The command may run beside services that have both keys, and may be stopped and restarted at any time. Exit code 0
//! means that nothing needs the previous key any more.

use super::manage::with_config;
use super::{Exit, Failure, Process, args};
use crate::app::sealed::Rewrapped;
use crate::config::{Config, ConfigError};

/// Reseals and counts. Exits with 1 if something is still under the previous key.
pub(super) fn run(command: &args::Secrets, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let args::Secrets::Rewrap(rewrap) = command;
    let config = Config::read(process.environment)?;
    if config.keys.previous.is_none() {
        let expected = "the key that AUTHORITY_SECRET_KEK replaces".to_owned();
        return Err(ConfigError::Missing { variable: "AUTHORITY_SECRET_KEK_PREVIOUS", expected }.into());
    }
    let done = with_config(&config, async |app| app.rewrap().await.map_err(Failure::of_refusal))?;
    let Rewrapped { rewrapped, sealed } = done;
    if rewrap.json {
        process.json(&done)?;
    } else {
        writeln!(process.stdout, "{rewrapped} moved, {} under the current key", sealed.current)?;
    }
    process.stdout.flush()?;
    let left = sealed.previous + sealed.unopened;
    if left == 0 {
        return Ok(Exit::Done);
    }
    writeln!(
        process.stderr,
        "authority: {} are still under the previous key, {} open with neither key",
        sealed.previous, sealed.unopened
    )?;
    Ok(Exit::Failed)
}
