//! The writing connection of SQLite.
//!
//! What a savepoint needs to be undone is kept in one buffer of a fixed size, which is faster than a list of small
//! ones. SQLite refuses what does not fit as if the disk were full: it means to go on in a file, but its writes are
//! limited to 128 KiB (3.51.3). So when a transaction is lost, for whatever reason, all later ones have the list.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqliteConnection};

use crate::error::{Result, StoreError};
use crate::hand_off::{CommitEffects, DispatchHandle};
use crate::job::Job;
use crate::shards::ShardSet;
use crate::sql::transaction::Tx;
use crate::sql::transaction::first_reads::Prefetch;
use crate::sql::transaction::write_batch::{Failed, Ran};
use crate::writing_connection::WritingConnection;

/// IMMEDIATE: a deferred transaction that upgrades can fail at once with SQLITE_BUSY and lose its reads.
const BEGIN: &str = "BEGIN IMMEDIATE; SAVEPOINT job";

/// The same, with the list of small buffers.
const BEGIN_UNBOUNDED: &str = "PRAGMA temp_store = memory; BEGIN IMMEDIATE; SAVEPOINT job";

const COMMIT: &str = "RELEASE job; COMMIT";

pub(crate) struct SqliteWriting {
    options: SqliteConnectOptions,
    /// `None` after a rollback failed: the next transaction opens a new one.
    tx: Option<Tx>,
    /// A transaction was lost.
    lost: bool,
}

impl SqliteWriting {
    pub(super) fn new(options: SqliteConnectOptions, conn: SqliteConnection) -> Self {
        Self { options, tx: Some(conn.into()), lost: false }
    }

    fn tx(&mut self) -> Result<&mut Tx> {
        let gone = || StoreError::Unavailable("the writing connection is gone".to_owned());
        self.tx.as_mut().ok_or_else(gone)
    }

    async fn execute(&mut self, statements: &'static str) -> Result<()> {
        Ok(self.tx()?.conn.raw.control(statements).await?)
    }
}

#[async_trait]
impl WritingConnection for SqliteWriting {
    async fn begin(&mut self, _turns: ShardSet, _wait: bool) -> Result<Option<ShardSet>> {
        if self.tx.is_none() {
            self.tx = Some(self.options.connect().await?.into());
        }
        let begin = if self.lost { BEGIN_UNBOUNDED } else { BEGIN };
        if let Err(error) = self.execute(begin).await {
            self.rollback().await;
            return Err(error);
        }
        // The file has one writer: whoever writes has every turn.
        self.tx()?.conn.begun(ShardSet::ALL);
        Ok(Some(ShardSet::ALL))
    }

    async fn take_also(&mut self, turns: ShardSet) -> Result<ShardSet> {
        self.tx()?.conn.holds_also(turns);
        Ok(turns)
    }

    async fn prefetch(&mut self, jobs: &[&Prefetch], dispatch: Option<Arc<DispatchHandle>>) -> Result<()> {
        self.tx()?.look(jobs, dispatch).await
    }

    fn take_cleared(&mut self) -> bool {
        self.tx.as_mut().is_some_and(|tx| tx.conn.cache.take_cleared())
    }

    async fn run(&mut self, index: usize, job: &mut Job) -> Result<(Ran, CommitEffects)> {
        let tx = self.tx()?;
        if !tx.conn.is_writing() {
            return Err(StoreError::Unavailable("no transaction is open".to_owned()));
        }
        tx.run(index, job).await
    }

    async fn finish(&mut self) -> Result<Failed> {
        self.tx()?.conn.finish().await
    }

    async fn commit(&mut self) -> Result<bool> {
        self.execute(COMMIT).await?;
        self.tx()?.conn.ended();
        Ok(true)
    }

    async fn rollback(&mut self) {
        // "No transaction is active" is an ordinary answer here: nothing was begun, or after an I/O error SQLite has
        // rolled back by itself. A connection that cannot even read is given up.
        if let Some(tx) = &mut self.tx {
            self.lost |= tx.conn.is_writing();
            tx.conn.ended();
        }
        if self.execute("ROLLBACK").await.is_err() && self.execute("SELECT 1").await.is_err() {
            self.tx = None;
        }
    }

    async fn close(mut self: Box<Self>) {
        if let Some(tx) = self.tx.take()
            && let Err(error) = tx.conn.raw.close().await
        {
            tracing::warn!(error = %error, "the database was not closed in order");
        }
    }
}
