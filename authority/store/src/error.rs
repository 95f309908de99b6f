//! What can go wrong below a use case.
//!
//! A constraint violation is a fact about the request; it is kept apart from a database that cannot answer. The use
//! case matches the former. The latter becomes 503 and aborts its transaction, or its job alone where a table is gone.

use authority_domain::Refusal;
use authority_domain::refusal::Fault;
use thiserror::Error;

/// What the store answers.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// A uniqueness rule of the schema that a write violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// `merchants.slug`
    MerchantSlug,
    /// Two merchants are connected once per mode.
    ConnectedPair,
    /// An order is shared once on a connection.
    SharedOrder,
    /// Any other rule.
    Other,
}

/// Why the store could not do what was asked.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A uniqueness or check rule refused the write; the rest of the transaction is unharmed.
    #[error("a constraint of the schema refused the write: {0:?}")]
    Conflict(Constraint),
    /// The database cannot answer now: away, busy, out of space, shutting down.
    #[error("the database cannot answer: {0}")]
    Unavailable(String),
    /// The server accepts no more connections: others have them all.
    #[error("the database server accepts no more connections: {0}")]
    NoConnectionLeft(String),
    /// The store was closed, as a service does that ends.
    #[error("the store is closed")]
    Closed,
    /// A stored row cannot be read as what it should be, or a statement is wrong.
    #[error("a stored row or a statement is not as it should be: {0}")]
    Broken(String),
    /// The database lacks a table that this program needs, or the right to use it: it was emptied, or is being
    /// restored.
    #[error("the database lacks what this program needs: {0}")]
    Unprepared(String),
    /// The schema is not the one this program knows (T9).
    #[error("the database has schema version {found}, this program knows {known}")]
    UnknownSchema {
        /// In the database.
        found: i64,
        /// In this program.
        known: i64,
    },
    /// The database began with another first migration than this program's: it was made before the first release, or
    /// by another program.
    #[error(
        "the database was not made by a release of this program and is not migrated: start with an empty one"
    )]
    ForeignSchema,
    /// The schema is older than this program, and on this database a migration must be started explicitly (contract
    /// 16).
    #[error(
        "the database has schema version {found}, this program needs {known}: run `authority migrate`, or `authority \
         serve --migrate`"
    )]
    OutdatedSchema {
        /// In the database; 0 when it is empty.
        found: i64,
        /// In this program.
        known: i64,
    },
    /// The transaction does not hold the turn of a shard that the job writes. The writer runs the job again with it;
    /// no caller sees this error.
    #[error("the transaction does not hold the turn of the shard")]
    TurnMissing,
    /// The database cannot be distributed over several servers; why not.
    #[error("{0}")]
    NotDistributable(&'static str),
    /// Another process serves this SQLite file.
    #[error("another process has the database open")]
    Locked,
}

impl StoreError {
    /// Whether the connection or the whole transaction is in doubt, as opposed to one statement or one row that can be
    /// undone alone.
    pub(crate) fn ends_transaction(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::NoConnectionLeft(_) | Self::Closed)
    }

    /// Whether the same may be possible later, with nothing changed in what is asked.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        self.ends_transaction() || matches!(self, Self::Unprepared(_))
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

/// How long a client should wait before it asks again, in seconds.
const RETRY_AFTER_S: u32 = 1;

impl From<StoreError> for Refusal {
    /// The cause goes to the log and to the command line, not to the client.
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::TurnMissing => {}
            // Nothing has failed.
            StoreError::Closed => tracing::debug!("a job came after the store was closed"),
            _ => tracing::error!(error = %error, "store failed"),
        }
        let fault = Fault { cause: error.to_string(), of_storage: error.ends_transaction() };
        let refusal = match error {
            StoreError::Unavailable(_)
            | StoreError::NoConnectionLeft(_)
            | StoreError::Unprepared(_)
            | StoreError::Closed
            | StoreError::Locked
            | StoreError::TurnMissing => Self::unavailable(RETRY_AFTER_S),
            StoreError::Conflict(_)
            | StoreError::Broken(_)
            | StoreError::UnknownSchema { .. }
            | StoreError::OutdatedSchema { .. }
            | StoreError::ForeignSchema
            | StoreError::NotDistributable(_) => Self::internal(),
        };
        Self { fault: Some(Box::new(fault)), ..refusal }
    }
}
