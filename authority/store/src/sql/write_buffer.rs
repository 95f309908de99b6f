//! A connection that buffers its writes and sends them in batches.
//!
//! The cost of a job is the number of times it talks to its database: on PostgreSQL a round trip, during which no
//! other transaction writes; on SQLite a hop to the thread that the driver keeps for the connection. A row that is
//! only written needs no answer before the end of the transaction, so it is buffered ([`Connection::buffer`])
//! together with the rows of earlier jobs. Buffered rows are sent as one statement per table
//! ([`super::write_batch`]): before a statement that could see them, and at the commit.
//!
//! A read names the keys that it depends on ([`Connection::about`]). While no row is buffered under these keys, it
//! sends nothing. Every statement that names no keys first sends all buffered rows. So no statement can tell that a
//! row was buffered, with one exception: errors of the database are reported later, at the latest at the commit.

use std::collections::HashSet;
use std::fmt;

use authority_domain::merchant::Merchant;
use authority_domain::tenant::Tenant;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt, TryFutureExt};
use sqlx::pool::PoolConnection;
use sqlx::{Connection as _, Database, Either, Error, Execute, Executor, SqlStr};

use super::rows::{Row, Table, Value};
use super::transaction_cache::{FoundCheckout, FoundKey, Stream, TransactionCache};
use super::write_batch::WriteBatch;
use super::{Db, RawConnection};

/// One connection and its buffered writes.
pub(crate) struct Connection {
    raw: Raw,
    pub(super) buffered: WriteBuffer,
    /// The open transaction, on a connection that writes.
    pub(super) batch: Option<WriteBatch>,
    /// What this transaction has read and need not read again.
    pub(super) cache: TransactionCache,
}

/// Buffered rows, in the order of jobs.
#[derive(Default)]
pub(super) struct WriteBuffer {
    pub(super) rows: Vec<Row>,
    keys: HashSet<String>,
}

impl WriteBuffer {
    pub(super) fn push(&mut self, row: Row) {
        self.keys.extend(row.keys.iter().cloned());
        self.rows.push(row);
    }

    /// Takes the first `count` rows.
    pub(super) fn take(&mut self, count: usize) -> Vec<Row> {
        let rest = self.rows.split_off(count.min(self.rows.len()));
        let taken = std::mem::replace(&mut self.rows, rest);
        self.keys = self.rows.iter().flat_map(|row| row.keys.iter().cloned()).collect();
        taken
    }

    /// Drops all but the first `count` rows.
    pub(super) fn truncate(&mut self, count: usize) {
        if self.rows.len() > count {
            self.rows.truncate(count);
            self.keys = self.rows.iter().flat_map(|row| row.keys.iter().cloned()).collect();
        }
    }
}

enum Raw {
    Own(RawConnection),
    Pooled(PoolConnection<Db>),
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl From<RawConnection> for Connection {
    fn from(own: RawConnection) -> Self {
        Self::new(Raw::Own(own))
    }
}

impl From<PoolConnection<Db>> for Connection {
    fn from(pooled: PoolConnection<Db>) -> Self {
        Self::new(Raw::Pooled(pooled))
    }
}

impl Connection {
    fn new(raw: Raw) -> Self {
        Self { raw, buffered: WriteBuffer::default(), batch: None, cache: TransactionCache::default() }
    }

    /// The connection itself, without regard to buffered rows.
    pub(crate) fn raw(&mut self) -> &mut RawConnection {
        match &mut self.raw {
            Raw::Own(own) => own,
            Raw::Pooled(pooled) => pooled,
        }
    }

    /// Closes the connection; one that belongs to a pool returns to it.
    pub(crate) async fn close(self) -> Result<(), Error> {
        match self.raw {
            Raw::Own(own) => own.close().await,
            Raw::Pooled(_) => Ok(()),
        }
    }

    /// Buffers a row of `table`. `keys` are the keys that a read must name to see it ([`Connection::about`]). The
    /// first is the row's own key in its table, if it has one.
    pub(crate) fn buffer<const N: usize>(
        &mut self,
        table: &'static Table,
        keys: impl IntoIterator<Item = String>,
        values: [Value; N],
    ) {
        let job = self.batch.as_ref().map_or(0, WriteBatch::job);
        let keys: Vec<String> = keys.into_iter().collect();
        for key in &keys {
            self.cache.forget(key);
        }
        self.buffered.push(Row { job, table, keys, values: values.into() });
    }

    /// Caches a merchant, in a transaction that writes. Elsewhere the next read may find another version.
    pub(super) fn note_merchant(&mut self, merchant: &Merchant) {
        if self.batch.is_some() {
            self.cache.note_merchant(merchant);
        }
    }

    /// Caches a stream, likewise.
    pub(super) fn note_stream(&mut self, tenant: &Tenant, stream: Stream) {
        if self.batch.is_some() {
            self.cache.note_stream(tenant, stream);
        }
    }

    /// Caches a checkout, unless a newer version of it is buffered.
    pub(super) fn note_checkout(&mut self, id: String, found: FoundCheckout) {
        if self.batch.is_some() && !self.waits(&id) {
            self.cache.note_checkout(id, found);
        }
    }

    /// Caches what is stored under an idempotency key.
    pub(super) fn note_key(&mut self, key: String, found: Option<FoundKey>) {
        if self.batch.is_some() && !self.waits(&key) {
            self.cache.note_key(key, found);
        }
    }

    /// Caches a counter of order numbers. After an increment the counter's row is buffered under `key`.
    pub(super) fn note_counter(&mut self, tenant: &Tenant, key: &str, last_number: i64) {
        if self.batch.is_some() && !self.waits(key) {
            self.cache.note_counter(tenant, last_number);
        }
    }

    /// Whether a row is buffered under this key.
    pub(super) fn waits(&self, key: &str) -> bool {
        self.buffered.keys.contains(key)
    }

    /// The connection, for a read that sees only rows with these keys and rows that are never buffered.
    ///
    /// # Errors
    /// The database's error for rows that were buffered under one of the keys.
    pub(crate) async fn about(&mut self, keys: &[String]) -> Result<&mut RawConnection, Error> {
        if keys.iter().any(|key| self.waits(key)) {
            self.settle().await?;
        } else {
            self.ready().await?;
        }
        Ok(self.raw())
    }
}

/// Whether a statement only reads.
fn only_reads(sql: &SqlStr) -> bool {
    sql.as_str().starts_with("SELECT ")
}

impl<'s> Executor<'s> for &'s mut Connection {
    type Database = Db;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        mut query: E,
    ) -> BoxStream<'e, Result<Either<<Db as Database>::QueryResult, <Db as Database>::Row>, Error>>
    where
        's: 'e,
        E: 'q + Execute<'q, Db>,
    {
        if self.batch.is_none() {
            return self.raw().fetch_many(query);
        }
        async move {
            let arguments = query.take_arguments().map_err(Error::Encode)?;
            let sql = query.sql();
            self.settle().await?;
            if !only_reads(&sql) {
                self.writes();
            }
            Ok(self.raw().fetch_many((sql, arguments)))
        }
        .try_flatten_stream()
        .boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(
        self,
        mut query: E,
    ) -> BoxFuture<'e, Result<Option<<Db as Database>::Row>, Error>>
    where
        's: 'e,
        E: 'q + Execute<'q, Db>,
    {
        if self.batch.is_none() {
            return self.raw().fetch_optional(query);
        }
        async move {
            let arguments = query.take_arguments().map_err(Error::Encode)?;
            let sql = query.sql();
            self.settle().await?;
            if !only_reads(&sql) {
                self.writes();
            }
            self.raw().fetch_optional((sql, arguments)).await
        }
        .boxed()
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [<Db as Database>::TypeInfo],
    ) -> BoxFuture<'e, Result<<Db as Database>::Statement, Error>>
    where
        's: 'e,
    {
        self.raw().prepare_with(sql, parameters)
    }
}
