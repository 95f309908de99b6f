//! The receiver's side: a durable inbox of verified events, and the claim that decides who acts (contract 11.2).
//!
//! A receiver that has verified a delivery claims the event's id here before it does anything with it. The primary
//! key decides the insert: of any number of simultaneous claims of one id, in one process or in several, exactly one
//! is [`Claimed::First`], and that claim is on disk before it is reported. The receiver whose claim was first acts,
//! then marks the event as [`Inbox::processed`]. [`Inbox::unprocessed`] returns the events that a crash left between
//! the two.
//!
//! The inbox is a SQLite file of its own. It belongs to the receiver and shares nothing with the authority's database:
//! a merchant's receiver would not have that either. Deliberately absent: expiry. A claim is kept as long as its event
//! can be replayed, and events are kept for ever.

use std::path::Path;
use std::time::Duration;

use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use verify_core::receiver::{Claimed, Record, Status};

use crate::error::StoreError;

/// How long a statement waits for another process's lock, and a claim for the connection.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The record of contract 11.2. Times of the event are as its body says; `received_at` is Unix milliseconds.
const CREATE_TABLE: &str = "\
CREATE TABLE IF NOT EXISTS events (
  id TEXT PRIMARY KEY NOT NULL,
  type TEXT NOT NULL,
  created_at TEXT NOT NULL,
  merchant_id TEXT NOT NULL,
  livemode INTEGER CHECK (livemode IN (0, 1)),
  received_at INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'received' CHECK (status IN ('received', 'processing', 'processed', 'error')),
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  body BLOB NOT NULL
) STRICT";

/// A receiver's inbox. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Inbox {
    /// One connection: claims are short, and SQLite writes one at a time anyway.
    pool: SqlitePool,
}

impl Inbox {
    /// Opens the file at `path`, and creates it when it does not exist.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it cannot be opened or is not a SQLite database.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        crate::sqlite::make_private(path).map_err(|error| {
            StoreError::Unavailable(format!("{} cannot be made: {error}", path.display()))
        })?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY_TIMEOUT);
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .acquire_timeout(BUSY_TIMEOUT)
            .connect_with(options)
            .await?;
        sqlx::query(CREATE_TABLE).execute(&pool).await?;
        Ok(Self { pool })
    }

    /// Claims an event. When this returns, the claim is on disk.
    ///
    /// # Errors
    /// [`StoreError`] when the claim could not be stored. It may be stored nevertheless; then the event is in
    /// [`Inbox::unprocessed`].
    pub async fn claim(&self, record: &Record<'_>) -> Result<Claimed, StoreError> {
        let inserted = sqlx::query(
            "INSERT INTO events (id, type, created_at, merchant_id, livemode, received_at, body) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING",
        )
        .bind(record.id)
        .bind(record.event_type)
        .bind(record.created_at)
        .bind(record.merchant_id)
        .bind(record.livemode)
        .bind(record.received_at_ms)
        .bind(record.body)
        .execute(&self.pool)
        .await?
        .rows_affected();
        Ok(if inserted == 1 { Claimed::First } else { Claimed::Duplicate })
    }

    /// Notes that the effect of a claimed event has happened.
    ///
    /// # Errors
    /// [`StoreError`] when it could not be noted; the event then stays among the [`Inbox::unprocessed`].
    pub async fn processed(&self, id: &str) -> Result<(), StoreError> {
        sqlx::query("UPDATE events SET status = $2, attempts = attempts + 1 WHERE id = $1")
            .bind(id)
            .bind(Status::Processed.as_str())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// The bodies of events that were claimed and never marked as processed, oldest first. Call this before
    /// deliveries are taken: afterwards it also returns events that are being worked on.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot answer.
    pub async fn unprocessed(&self) -> Result<Vec<Vec<u8>>, StoreError> {
        let bodies =
            sqlx::query_scalar("SELECT body FROM events WHERE status <> $1 ORDER BY received_at, rowid")
                .bind(Status::Processed.as_str());
        Ok(bodies.fetch_all(&self.pool).await?)
    }

    /// How many events were ever claimed.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot answer.
    pub async fn count(&self) -> Result<u64, StoreError> {
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM events").fetch_one(&self.pool).await?;
        Ok(count.unsigned_abs())
    }

    /// Waits for statements under way and closes the file.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}
