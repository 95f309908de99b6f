//! What the errors of the databases mean for a use case.

use sqlx::error::ErrorKind;
use sqlx::postgres::PgDatabaseError;

use crate::error::{Constraint, StoreError};

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(database) => {
                if let Some(database) = database.try_downcast_ref::<PgDatabaseError>() {
                    return of_postgres(database);
                }
                let message = database.message();
                match database.kind() {
                    ErrorKind::UniqueViolation if message.contains("merchants.slug") => {
                        Self::Conflict(Constraint::MerchantSlug)
                    }
                    // SQLite names the index of expressions and the columns of any other.
                    ErrorKind::UniqueViolation if message.contains("partner_connections_pair") => {
                        Self::Conflict(Constraint::ConnectedPair)
                    }
                    ErrorKind::UniqueViolation
                        if message.ends_with("order_shares.order_number, order_shares.connection_id") =>
                    {
                        Self::Conflict(Constraint::SharedOrder)
                    }
                    ErrorKind::UniqueViolation
                    | ErrorKind::ForeignKeyViolation
                    | ErrorKind::NotNullViolation
                    | ErrorKind::CheckViolation => {
                        tracing::error!(error = %error, "constraint violated");
                        Self::Conflict(Constraint::Other)
                    }
                    _ => Self::Unavailable(error.to_string()),
                }
            }
            sqlx::Error::ColumnNotFound(_)
            | sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::ColumnIndexOutOfBounds { .. }
            | sqlx::Error::Decode(_)
            | sqlx::Error::Encode(_)
            | sqlx::Error::TypeNotFound { .. } => Self::Broken(error.to_string()),
            sqlx::Error::PoolClosed => Self::Closed,
            _ => Self::Unavailable(error.to_string()),
        }
    }
}

/// SQLSTATE of an error without one of its own. Citus gives it to what a worker says against rows that it was sent.
const INTERNAL: &str = "XX000";

/// SQLSTATE of a server, a database or a role that has as many connections as it may.
const TOO_MANY_CONNECTIONS: &str = "53300";

/// The constraint that was violated, by its name in the schema. Citus names it in the message alone, and with the
/// number of the part of the table on which it stands.
fn violated(error: &PgDatabaseError) -> Option<&str> {
    if let Some(name) = error.constraint() {
        return Some(name);
    }
    let (_, named) =
        error.message().split_once(" constraint \"").filter(|(said, _)| said.contains("violates"))?;
    let name = named.split('"').next()?;
    match name.rsplit_once('_') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => Some(name),
        _ => Some(name),
    }
}

/// Reads the five characters of SQLSTATE (PostgreSQL documentation, appendix A). A rule of the schema, a value that
/// cannot be stored and a wrong statement concern one job; a table that is gone concerns everybody. Everything else
/// (connections, resources, shutting down, serialization, deadlocks, timeouts) means that the database cannot answer
/// now.
fn of_postgres(error: &PgDatabaseError) -> StoreError {
    let violated = violated(error);
    let code = match violated {
        Some(_) if error.code() == INTERNAL => "23000",
        _ => error.code(),
    };
    match (code.get(..2), violated) {
        (Some("23"), Some("merchants_slug_key")) => StoreError::Conflict(Constraint::MerchantSlug),
        (Some("23"), Some("partner_connections_pair")) => StoreError::Conflict(Constraint::ConnectedPair),
        (Some("23"), Some("order_shares_once")) => StoreError::Conflict(Constraint::SharedOrder),
        (Some("23"), _) => {
            tracing::error!(error = %error, code, "constraint violated");
            StoreError::Conflict(Constraint::Other)
        }
        // No such table, no such schema, no right to use it. The first is also the code of a wrong FROM, which no
        // statement has: each is run by a test.
        _ if ["42P01", "3F000", "42501"].contains(&code) => {
            StoreError::Unprepared(format!("{error} ({code})"))
        }
        _ if code == TOO_MANY_CONNECTIONS => StoreError::NoConnectionLeft(format!("{error} ({code})")),
        // 22 data exception, 42 wrong statement, P0 raised by a trigger, 0A not supported.
        (Some("22" | "42" | "P0" | "0A"), _) => StoreError::Broken(format!("{error} ({code})")),
        _ => StoreError::Unavailable(format!("{error} ({code})")),
    }
}
