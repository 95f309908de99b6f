//! What the server's error codes mean for a use case.

use sqlx::postgres::PgDatabaseError;

use crate::StoreError;
use crate::error::Constraint;

/// Reads the five characters of SQLSTATE (PostgreSQL documentation, appendix A). A rule of the schema, a value that
/// cannot be stored and a wrong statement concern one job. Everything else (connections, resources, shutting down,
/// serialization, deadlocks, timeouts) means that the database cannot answer now.
pub(crate) fn read(error: &PgDatabaseError) -> StoreError {
    let code = error.code();
    // On a server of Citus a name ends with the number of the part of the table.
    let constraint = error.constraint().map(|name| match name.rsplit_once('_') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    });
    match code.get(..2) {
        Some("23") if constraint == Some("merchants_slug_key") => {
            StoreError::Conflict(Constraint::MerchantSlug)
        }
        Some("23") if constraint == Some("partner_connections_pair") => {
            StoreError::Conflict(Constraint::ConnectedPair)
        }
        Some("23") if constraint == Some("order_shares_once") => {
            StoreError::Conflict(Constraint::SharedOrder)
        }
        Some("23") => {
            tracing::error!(error = %error, code, "constraint violated");
            StoreError::Conflict(Constraint::Other)
        }
        // 22 data exception, 42 wrong statement or missing privilege, P0 raised by a trigger, 0A not supported.
        Some("22" | "42" | "P0" | "0A") => StoreError::Broken(format!("{error} ({code})")),
        _ => StoreError::Unavailable(format!("{error} ({code})")),
    }
}
