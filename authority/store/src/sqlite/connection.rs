//! The writing connection of SQLite.

use async_trait::async_trait;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::Session;
use crate::StoreError;
use crate::writer::{Job, Made, Ran, WritingConnection};

pub(crate) struct SqliteWriting {
    options: SqliteConnectOptions,
    /// `None` after a rollback failed: the next transaction opens a new one.
    conn: Option<SqliteConnection>,
}

impl SqliteWriting {
    pub(super) fn new(options: SqliteConnectOptions, conn: SqliteConnection) -> Self {
        Self { options, conn: Some(conn) }
    }

    async fn execute(&mut self, statement: &'static str) -> Result<(), StoreError> {
        let Some(conn) = &mut self.conn else {
            return Err(StoreError::Unavailable("the writing connection is gone".to_owned()));
        };
        sqlx::query(statement).execute(conn).await?;
        Ok(())
    }
}

#[async_trait]
impl WritingConnection for SqliteWriting {
    async fn begin(&mut self) -> Result<(), StoreError> {
        if self.conn.is_none() {
            self.conn = Some(self.options.connect().await?);
        }
        // IMMEDIATE: a deferred transaction that upgrades can fail at once with SQLITE_BUSY and lose its reads.
        let begun = self.execute("BEGIN IMMEDIATE").await;
        if begun.is_err() {
            self.rollback().await;
        }
        begun
    }

    async fn run(&mut self, job: &mut dyn Job) -> Result<(Ran, Made), StoreError> {
        self.execute("SAVEPOINT job").await?;
        let Some(conn) = &mut self.conn else {
            return Err(StoreError::Unavailable("the writing connection is gone".to_owned()));
        };
        let mut session = Session::new(conn);
        let ran = job.run(&mut session).await;
        let made = session.made;
        match ran {
            Ran::Keep => self.execute("RELEASE job").await?,
            Ran::Undo => {
                self.execute("ROLLBACK TO job").await?;
                self.execute("RELEASE job").await?;
            }
            Ran::Abort => {}
        }
        Ok((ran, made))
    }

    async fn commit(&mut self) -> Result<(), StoreError> {
        self.execute("COMMIT").await
    }

    async fn rollback(&mut self) {
        // "No transaction is active" is an ordinary answer here: nothing was begun, or after an I/O error SQLite has
        // rolled back by itself. A connection that cannot even read is given up.
        if self.execute("ROLLBACK").await.is_err() && self.execute("SELECT 1").await.is_err() {
            self.conn = None;
        }
    }

    async fn close(mut self: Box<Self>) {
        if let Some(conn) = self.conn.take()
            && let Err(error) = conn.close().await
        {
            tracing::warn!(error = %error, "the database was not closed in order");
        }
    }
}
