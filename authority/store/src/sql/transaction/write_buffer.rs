//! A connection that buffers its writes and sends them in batches.
//!
//! The cost of a job is the number of times it talks to its database: on PostgreSQL a round trip, during which no
//! other transaction writes; on SQLite a hop to the thread that the driver keeps for the connection. A row that is
//! only written needs no answer before the end of the transaction, so it is buffered ([`BufferedConnection::buffer`])
//! together with the rows of earlier jobs. Buffered rows are sent as one statement per table
//! ([`crate::sql::transaction::write_batch`]): before a statement that could see them, and at the commit.
//!
//! A read names the keys that it depends on ([`Query::about`]). While no row is buffered under these keys, it
//! sends nothing. Every statement that names no keys first sends all buffered rows. So no statement can tell that a
//! row was buffered, with one exception: errors of the database are reported later, at the latest at the commit.

use std::collections::HashSet;
use std::fmt;

use authority_domain::{Merchant, Tenant};
use futures_util::stream::BoxStream;

use super::lookups::Asked;
use super::rows::{BufferedRow, Table};
use super::transaction_cache::{FoundCheckout, FoundKey, Stream, TransactionCache};
use super::write_batch::WriteBatch;
use crate::driver::{Connection, Dialect, Error, FromRow, Query, Row, Value};
use crate::{Result, StoreError};

/// One connection and its buffered writes.
pub(crate) struct BufferedConnection {
    /// The connection itself, without regard to buffered rows.
    pub(crate) raw: Connection,
    pub(crate) buffered: WriteBuffer,
    /// The open transaction, on a connection that writes.
    pub(crate) batch: Option<WriteBatch>,
    /// What this transaction has read and need not read again.
    pub(crate) cache: TransactionCache,
}

/// Buffered rows, in the order of jobs.
#[derive(Default)]
pub(crate) struct WriteBuffer {
    pub(crate) rows: Vec<BufferedRow>,
    keys: HashSet<String>,
}

impl WriteBuffer {
    pub(crate) fn push(&mut self, row: BufferedRow) {
        self.keys.extend(row.keys.iter().cloned());
        self.rows.push(row);
    }

    /// Takes the first `count` rows.
    pub(crate) fn take(&mut self, count: usize) -> Vec<BufferedRow> {
        let rest = self.rows.split_off(count.min(self.rows.len()));
        let taken = std::mem::replace(&mut self.rows, rest);
        self.keys = self.rows.iter().flat_map(|row| row.keys.iter().cloned()).collect();
        taken
    }

    /// Drops all but the first `count` rows.
    pub(crate) fn truncate(&mut self, count: usize) {
        if self.rows.len() > count {
            self.rows.truncate(count);
            self.keys = self.rows.iter().flat_map(|row| row.keys.iter().cloned()).collect();
        }
    }
}

impl fmt::Debug for BufferedConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferedConnection").finish_non_exhaustive()
    }
}

impl From<Connection> for BufferedConnection {
    fn from(raw: Connection) -> Self {
        Self { raw, buffered: WriteBuffer::default(), batch: None, cache: TransactionCache::default() }
    }
}

impl BufferedConnection {
    /// How its database says what the two say differently.
    pub(crate) fn dialect(&self) -> &'static Dialect {
        self.raw.dialect()
    }

    /// Buffers a row of `table`. `keys` are the keys that a read must name to see it ([`Query::about`]). The
    /// first is the row's own key in its table, if it has one.
    pub(crate) fn buffer<const N: usize>(
        &mut self,
        table: &'static Table,
        keys: impl IntoIterator<Item = String>,
        values: [Value<'_>; N],
    ) {
        let job = self.batch.as_ref().map_or(0, |batch| batch.job);
        let keys: Vec<String> = keys.into_iter().collect();
        for key in &keys {
            self.cache.forget(key);
        }
        self.buffered.push(BufferedRow { job, table, keys, values: values.map(Value::into_owned).into() });
    }

    /// Caches a merchant, in a transaction that writes. Elsewhere the next read may find another version.
    pub(crate) fn note_merchant(&mut self, merchant: &Merchant) {
        if self.batch.is_some() {
            self.cache.merchants.insert(merchant.id.clone(), merchant.clone());
        }
    }

    /// Caches a stream, likewise.
    pub(crate) fn note_stream(&mut self, tenant: &Tenant, stream: Stream) {
        if self.batch.is_some() {
            self.cache.streams.insert(tenant.clone(), stream);
        }
    }

    /// Caches a checkout, unless a newer version of it is buffered.
    pub(crate) fn note_checkout(&mut self, id: String, found: FoundCheckout) {
        if self.batch.is_some() && !self.waits(&id) {
            self.cache.checkouts.insert(id, found);
        }
    }

    /// Caches what is stored under an idempotency key.
    pub(crate) fn note_key(&mut self, key: String, found: Option<FoundKey>) {
        if self.batch.is_some() && !self.waits(&key) {
            self.cache.keys.insert(key, found);
        }
    }

    /// Caches a counter of order numbers. After an increment the counter's row is buffered under `key`.
    pub(crate) fn note_counter(&mut self, tenant: &Tenant, key: &str, last_number: i64) {
        if self.batch.is_some() && !self.waits(key) {
            self.cache.counters.insert(tenant.clone(), last_number);
        }
    }

    /// Whether a row is buffered under this key.
    pub(crate) fn waits(&self, key: &str) -> bool {
        self.buffered.keys.contains(key)
    }

    /// Asks these lookups, which see rows that are buffered under the keys `about`.
    pub(crate) async fn look_up(&mut self, asked: &[Asked], about: &[String]) -> Result<Vec<Row>, Error> {
        self.before_reading(Some(about)).await?;
        self.raw.look_up(asked).await
    }

    /// Makes everything that a read may see visible to it: the rows with the keys that it names, or all.
    async fn before_reading(&mut self, about: Option<&[String]>) -> Result<(), Error> {
        match about {
            Some(keys) if !keys.iter().any(|key| self.waits(key)) => self.ready().await,
            _ => self.settle().await,
        }
    }

    async fn before_writing(&mut self) -> Result<(), Error> {
        self.settle().await?;
        self.writes();
        Ok(())
    }
}

impl Query<'_> {
    /// Reads all rows.
    ///
    /// # Errors
    /// The database's error, also for rows that were buffered and that the read may see; as with all that follows.
    pub(crate) async fn read<T: FromRow>(self, conn: &mut BufferedConnection) -> Result<Vec<T>, Error> {
        conn.before_reading(self.about).await?;
        conn.raw.all(self).await
    }

    /// Reads the first row, if there is one.
    pub(crate) async fn read_optional<T: FromRow>(
        self,
        conn: &mut BufferedConnection,
    ) -> Result<Option<T>, Error> {
        conn.before_reading(self.about).await?;
        conn.raw.optional(self).await
    }

    /// Reads all rows, and makes of each what `read` says.
    pub(crate) async fn read_as<T>(
        self,
        conn: &mut BufferedConnection,
        read: impl Fn(&Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.read::<Row>(conn).await?.iter().map(read).collect()
    }

    /// The same with the first row, if there is one.
    pub(crate) async fn read_optional_as<T>(
        self,
        conn: &mut BufferedConnection,
        read: impl Fn(&Row) -> Result<T>,
    ) -> Result<Option<T>> {
        self.read_optional::<Row>(conn).await?.as_ref().map(read).transpose()
    }

    /// Reads the row that there is.
    pub(crate) async fn read_one<T: FromRow>(self, conn: &mut BufferedConnection) -> Result<T, Error> {
        self.read_optional(conn).await?.ok_or(Error::RowNotFound)
    }

    /// Reads the rows as they come.
    pub(crate) async fn read_stream(
        self,
        conn: &mut BufferedConnection,
    ) -> Result<BoxStream<'_, Result<Row, Error>>, Error> {
        conn.before_reading(self.about).await?;
        conn.raw.stream(self)
    }

    /// Writes; returns how many rows it touched.
    pub(crate) async fn write(self, conn: &mut BufferedConnection) -> Result<u64, Error> {
        conn.before_writing().await?;
        conn.raw.execute(self).await
    }

    /// Writes any number of rows, which nobody counts.
    pub(crate) async fn run(self, conn: &mut BufferedConnection) -> Result<()> {
        self.write(conn).await?;
        Ok(())
    }

    /// Writes; returns whether it touched a row.
    pub(crate) async fn touches_any(self, conn: &mut BufferedConnection) -> Result<bool> {
        Ok(self.write(conn).await? > 0)
    }

    /// Writes rows of which the cache holds nothing, so that it stays.
    pub(crate) async fn write_beside_cache(self, conn: &mut BufferedConnection) -> Result<u64, Error> {
        conn.settle().await?;
        conn.writes_beside_cache();
        conn.raw.execute(self).await
    }

    /// The same for one row, a part of the record `what`; the error is that of [`write_one`](Self::write_one).
    pub(crate) async fn write_one_beside_cache(
        self,
        conn: &mut BufferedConnection,
        what: &str,
    ) -> Result<()> {
        let written = self.write_beside_cache(conn).await?;
        one_row(written == 1, what)
    }

    /// Writes one row, a part of the record `what`.
    ///
    /// # Errors
    /// If it touched none, the previous version is not the one that was read, or the row is another tenant's, and the
    /// transaction cannot continue.
    pub(crate) async fn write_one(self, conn: &mut BufferedConnection, what: &str) -> Result<()> {
        let written = self.write(conn).await?;
        one_row(written == 1, what)
    }

    /// The same for a statement that returns what it wrote, one column: an upsert of selected rows, of which Citus
    /// counts those too that it left as they were.
    pub(crate) async fn write_one_returned(self, conn: &mut BufferedConnection, what: &str) -> Result<()> {
        let written: Vec<String> = self.write_returning(conn).await?;
        one_row(written.len() == 1, what)
    }

    /// Writes; returns the rows that the statement returns.
    pub(crate) async fn write_returning<T: FromRow>(
        self,
        conn: &mut BufferedConnection,
    ) -> Result<Vec<T>, Error> {
        conn.before_writing().await?;
        conn.raw.all(self).await
    }
}

fn one_row(written: bool, what: &str) -> Result<()> {
    if written {
        return Ok(());
    }
    Err(StoreError::Broken(format!("the {what}: expected one row, found a version or tenant mismatch")))
}
