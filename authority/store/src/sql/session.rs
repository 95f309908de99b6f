//! What the ports of every database stand on: one connection, and the small pieces that statements share.

use sqlx::QueryBuilder;

use super::{Db, DbConnection};
use crate::StoreError;
use crate::ports::Written;
use crate::writer::Made;

/// The ports over one connection: inside a transaction for jobs that write, without one for jobs that read.
pub(crate) struct Session<'c> {
    pub(crate) conn: &'c mut DbConnection,
    /// What is to be told after the commit and not before.
    pub(crate) made: Made,
    /// What the job wrote, for the audit log.
    pub(crate) written: Vec<Written>,
}

impl<'c> Session<'c> {
    pub(crate) fn new(conn: &'c mut DbConnection) -> Self {
        Self { conn, made: Made::default(), written: Vec::new() }
    }
}

/// A write that must touch one row touched none: the version before it is not the one that was read, or the row is
/// another tenant's. The transaction cannot go on.
pub(super) fn one_row(touched: u64, what: &str) -> Result<(), StoreError> {
    if touched == 1 {
        Ok(())
    } else {
        Err(StoreError::Broken(format!("the {what} was written by nobody or by others")))
    }
}

/// Adds `AND column IN (…)` when there is something to be in.
pub(super) fn push_in(query: &mut QueryBuilder<Db>, column: &'static str, values: &[String]) {
    if values.is_empty() {
        return;
    }
    query.push(" AND ").push(column).push(" IN (");
    let mut list = query.separated(", ");
    for value in values {
        list.push_bind(value);
    }
    query.push(")");
}
