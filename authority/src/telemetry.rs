//! Logs go to standard error, as text for people or as one JSON object per line (contract 16).
//!
//! Standard output belongs to the results of a command: the ready line, a key shown once. No log line may hold a key
//! or a secret (contract 1.2); the types that carry one show nothing under `Debug`.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::{EnvFilter, reload};

use crate::config::{LogFormat, Logging};

/// A subscriber was already installed in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("logging was set up twice")]
pub struct AlreadyInstalled;

/// Replaces what is logged while the process runs.
pub struct LogFilter(Box<dyn Fn(EnvFilter) -> Result<(), reload::Error>>);

impl LogFilter {
    /// Logs by this filter from now on.
    ///
    /// # Errors
    /// None in practice: the subscriber lives as long as the process.
    pub fn replace(&self, filter: EnvFilter) -> Result<(), reload::Error> {
        (self.0)(filter)
    }
}

/// Sends the log events of this process to standard error. Called once, by a command that logs.
///
/// # Errors
/// [`AlreadyInstalled`] on the second call.
pub fn install(logging: Logging) -> Result<LogFilter, AlreadyInstalled> {
    // A line that cannot be written is lost. To complain of that on the same standard error is a panic there.
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(logging.filter)
        .with_writer(stderr)
        .log_internal_errors(false);
    let (filter, installed) = match logging.format {
        LogFormat::Text => {
            let subscriber = subscriber.with_ansi(stderr().is_terminal()).with_filter_reloading();
            (filter_of(subscriber.reload_handle()), subscriber.try_init())
        }
        LogFormat::Json => {
            let subscriber = subscriber.json().flatten_event(true).with_filter_reloading();
            (filter_of(subscriber.reload_handle()), subscriber.try_init())
        }
    };
    installed.map(|()| filter).map_err(|_| AlreadyInstalled)
}

fn filter_of<S: 'static>(handle: reload::Handle<EnvFilter, S>) -> LogFilter {
    LogFilter(Box::new(move |filter| handle.reload(filter)))
}
