//! A connection that buffers its writes and sends them in batches.
//!
//! The cost of a job is the number of times it talks to its database: on PostgreSQL a round trip, during which no
//! other transaction writes; on SQLite a hop to the thread that the driver keeps for the connection. A row that is
//! only written needs no answer before the end of the transaction, so it is buffered ([`BufferedConnection::buffer`])
//! together with the rows of earlier jobs. Buffered rows are sent as one statement per table
//! ([`crate::sql::transaction::write_batch`]): before a statement that could see them, and at the commit.
//!
//! A read names the keys that it depends on ([`about`](crate::driver::Query::about)). While no row is buffered under
//! these keys, it sends nothing. Every statement that names no keys first sends all buffered rows. So no statement can
//! tell that a row was buffered, with one exception: errors of the database are reported later, at the latest at the
//! commit.

use std::collections::HashSet;
use std::fmt;

use authority_domain::{Merchant, Tenant};

use super::rows::{BufferedRow, Table};
use super::transaction_cache::{FoundCheckout, FoundKey, Stream, TransactionCache};
use crate::driver::{Connection, Dialect, Value};
use crate::error::StoreError;
use crate::shards::ShardSet;

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

/// The state of a transaction, which begins with a savepoint called `job`.
#[derive(Default)]
pub(crate) struct WriteBatch {
    /// The turns that the transaction holds.
    pub(super) held: ShardSet,
    /// The index of the running job in the transaction.
    pub(super) job: usize,
    /// How many of the buffered rows belong to jobs that have ended.
    pub(super) ended: usize,
    /// Writes of jobs that have ended were sent since the savepoint.
    pub(super) kept: bool,
    /// The running job has sent something.
    pub(super) asked: bool,
    /// The running job may have changed something.
    pub(super) wrote: bool,
    /// The transaction cannot be committed.
    pub(super) lost: bool,
    pub(super) failed: Vec<(usize, StoreError)>,
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

    /// Buffers a row of `table`. `keys` are the keys that a read must name to see it
    /// ([`about`](crate::driver::Query::about)). The first is the row's own key in its table, if it has one.
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
}
