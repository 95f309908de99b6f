//! Logs go to standard error, as text for people or as one JSON object per line (contract 16).
//!
//! Standard output belongs to the results of a command: the ready line, a key shown once. No log line may hold a key
//! or a secret (contract 1.2); the types that carry one show nothing under `Debug`.

use std::io::{IsTerminal as _, stderr};

use crate::config::{LogFormat, Logging};

/// A subscriber was already installed in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("logging was set up twice")]
pub struct AlreadyInstalled;

/// Sends the log events of this process to standard error. Called once, by a command that logs.
///
/// # Errors
/// [`AlreadyInstalled`] on the second call.
pub fn install(logging: Logging) -> Result<(), AlreadyInstalled> {
    let subscriber = tracing_subscriber::fmt().with_env_filter(logging.filter).with_writer(stderr);
    let installed = match logging.format {
        LogFormat::Text => subscriber.with_ansi(stderr().is_terminal()).try_init(),
        LogFormat::Json => subscriber.json().flatten_event(true).try_init(),
    };
    installed.map_err(|_| AlreadyInstalled)
}
