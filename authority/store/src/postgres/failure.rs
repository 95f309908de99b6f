//! What the server's error codes mean for a use case.

use sqlx::postgres::PgDatabaseError;

use crate::StoreError;
use crate::error::Constraint;

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
pub(crate) fn read(error: &PgDatabaseError) -> StoreError {
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
