//! The writing connection of SQLite. Statements that need no answer of their own travel together.

use async_trait::async_trait;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqliteConnection};

use super::{DbConnection, Session};
use crate::StoreError;
use crate::writer::{Job, Made, Ran, WritingConnection};

/// IMMEDIATE: a deferred transaction that upgrades can fail at once with SQLITE_BUSY and lose its reads.
const BEGIN: &str = "BEGIN IMMEDIATE; SAVEPOINT job";

/// From one job to the next.
const NEXT: &str = "RELEASE job; SAVEPOINT job";
const COMMIT: &str = "RELEASE job; COMMIT";

pub(crate) struct SqliteWriting {
    options: SqliteConnectOptions,
    /// `None` after a rollback failed: the next transaction opens a new one.
    conn: Option<DbConnection>,
    /// Whether the savepoint holds a job's writes that are to stay.
    kept: bool,
}

impl SqliteWriting {
    pub(super) fn new(options: SqliteConnectOptions, conn: SqliteConnection) -> Self {
        Self { options, conn: Some(conn.into()), kept: false }
    }

    async fn execute(&mut self, statement: &'static str) -> Result<(), StoreError> {
        let Some(conn) = &mut self.conn else {
            return Err(StoreError::Unavailable("the writing connection is gone".to_owned()));
        };
        conn.forget();
        sqlx::query(statement).execute(conn).await?;
        Ok(())
    }
}

#[async_trait]
impl WritingConnection for SqliteWriting {
    async fn begin(&mut self) -> Result<(), StoreError> {
        self.kept = false;
        if self.conn.is_none() {
            self.conn = Some(self.options.connect().await?.into());
        }
        let begun = self.execute(BEGIN).await;
        if begun.is_err() {
            self.rollback().await;
        }
        begun
    }

    async fn run(&mut self, job: &mut dyn Job) -> Result<(Ran, Made), StoreError> {
        if self.kept {
            self.execute(NEXT).await?;
        }
        self.kept = false;
        let Some(conn) = &mut self.conn else {
            return Err(StoreError::Unavailable("the writing connection is gone".to_owned()));
        };
        let mut session = Session::new(conn);
        let ran = job.run(&mut session).await;
        let made = session.made;
        match ran {
            Ran::Keep => self.kept = true,
            Ran::Undo => self.execute("ROLLBACK TO job").await?,
            Ran::Abort => {}
        }
        Ok((ran, made))
    }

    async fn commit(&mut self) -> Result<(), StoreError> {
        self.execute(COMMIT).await
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
