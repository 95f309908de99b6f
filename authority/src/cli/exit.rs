//! The exit codes of a command (contract 16): 0 done, 1 the command failed, 2 wrong usage or configuration.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use authority_domain::Refusal;

use crate::config::{ConfigError, DatabaseUrl};

/// The exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The command succeeded.
    Done,
    /// The command failed.
    Failed,
    /// The arguments or the configuration are wrong.
    Usage,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
        })
    }
}

/// Why a command failed, as a message for the person who ran it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The command failed; exit code 1.
    Failed(String),
    /// The database failed; exit code 1. Whoever knows which database it is names it.
    Database(String),
    /// The arguments or the configuration are wrong; the text begins with the flag or variable. Exit code 2.
    Usage(String),
    /// The reader of standard output has gone, as `head` does when it has enough: nobody is left to be told. Exit code
    /// 1.
    ReaderGone,
}

impl Failure {
    /// What a library or a part of this program says.
    pub(super) fn failed(error: impl Display) -> Self {
        Self::Failed(error.to_string())
    }

    /// What a use case refused, or that the database failed it.
    pub(super) fn of_refusal(refusal: Refusal) -> Self {
        match refusal.fault {
            Some(fault) => Self::Database(fault.cause),
            None => Self::Failed(refusal.detail),
        }
    }

    /// Names the database, if that has failed.
    pub(super) fn of_database(self, database: &DatabaseUrl) -> Self {
        match self {
            Self::Database(cause) => Self::Database(format!("{database}: {cause}")),
            other => other,
        }
    }

    /// Writes one line to standard error, unless nobody reads the results any more, and returns the exit code.
    pub(super) fn report(self, stderr: &mut dyn Write) -> Exit {
        let (exit, message) = match self {
            Self::Failed(message) => (Exit::Failed, message),
            Self::Database(cause) => (Exit::Failed, format!("the database cannot be used: {cause}")),
            Self::Usage(message) => (Exit::Usage, message),
            Self::ReaderGone => return Exit::Failed,
        };
        let line = super::plain(&message);
        // When standard error is closed, only the exit code can report the failure.
        let _ = writeln!(stderr, "authority: {line}");
        exit
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<io::Error> for Failure {
    /// A standard stream failed.
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ReaderGone;
        }
        Self::Failed(format!("cannot read or write a standard stream: {error}"))
    }
}
