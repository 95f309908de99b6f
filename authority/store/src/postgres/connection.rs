//! The writing connection of PostgreSQL.
//!
//! It says BEGIN and COMMIT itself: sqlx 0.9.0's own `begin` can leave a connection inside a transaction when the
//! future around it is dropped (upstream #4385). Statements that need no answer of their own travel together, so that
//! a job costs one round trip beside its own statements.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection, PgPool};
use tokio::time::timeout;

use super::{DbConnection, Session};
use crate::StoreError;
use crate::writer::{Job, Made, Ran, WritingConnection};

/// The writers' turn: an advisory lock of the database, given back by the end of the transaction. The key is the
/// ASCII text `authorit`. The level is named, because the server's default may be another one: with a single snapshot for
/// the whole transaction, taken before the turn has come, a use case would not see what was written while it waited.
const BEGIN: &str =
    "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(7022647185849346420); SAVEPOINT job";

/// From one job to the next. The release fails in a transaction that an error has ended, unlike a COMMIT, which would
/// say that all is well and roll back.
const NEXT: &str = "RELEASE SAVEPOINT job; SAVEPOINT job";
const COMMIT: &str = "RELEASE SAVEPOINT job; COMMIT";

/// How long to wait for the server to accept a connection.
const CONNECT_WAIT: Duration = Duration::from_secs(5);

/// How long to wait for the server in the middle of a transaction. Its own limits are shorter (`open`): this one is
/// for a server that is gone without a word.
const ANSWER_WAIT: Duration = Duration::from_secs(30);

pub(crate) struct PostgresWriting {
    options: PgConnectOptions,
    readers: [PgPool; 2],
    /// `None` after the connection failed: the next transaction opens a new one.
    conn: Option<DbConnection>,
    /// Whether the savepoint holds a job's writes that are to stay.
    kept: bool,
}

impl PostgresWriting {
    pub(super) fn new(options: PgConnectOptions, readers: [PgPool; 2], conn: PgConnection) -> Self {
        Self { options, readers, conn: Some(conn.into()), kept: false }
    }

    /// Lets go of the readers that rest: whatever ended the writing connection is likely to have ended theirs, and the
    /// first to use them would be told so instead of being answered. Those in use find out by themselves.
    fn give_up_resting_readers(&self) {
        for readers in &self.readers {
            while let Some(mut reader) = readers.try_acquire() {
                reader.close_on_drop();
            }
        }
    }

    /// Runs statements without parameters. A connection that does not answer in time is given up.
    async fn execute(&mut self, statements: &'static str) -> Result<(), StoreError> {
        let Some(conn) = &mut self.conn else { return Err(gone()) };
        conn.forget();
        match timeout(ANSWER_WAIT, sqlx::raw_sql(statements).execute(conn)).await {
            Ok(done) => Ok(done.map(|_| ())?),
            Err(_) => {
                self.conn = None;
                Err(gone())
            }
        }
    }
}

/// Opens a connection, within [`CONNECT_WAIT`].
pub(super) async fn connect(options: &PgConnectOptions) -> Result<PgConnection, StoreError> {
    let mut conn = timeout(CONNECT_WAIT, options.connect())
        .await
        .map_err(|_| StoreError::Unavailable("the database server does not answer".to_owned()))??;
    // Durability is not a setting of the authority's: a commit that was answered survives a power cut (T1).
    sqlx::raw_sql(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    )
    .execute(&mut conn)
    .await?;
    Ok(conn)
}

fn gone() -> StoreError {
    StoreError::Unavailable("the writing connection is gone".to_owned())
}

#[async_trait]
impl WritingConnection for PostgresWriting {
    async fn begin(&mut self) -> Result<(), StoreError> {
        self.kept = false;
        if self.conn.is_some() {
            let begun = self.execute(BEGIN).await;
            if begun.is_ok() {
                return begun;
            }
            self.rollback().await;
            if self.conn.is_some() {
                return begun;
            }
            // The server was restarted since the last transaction: nothing is lost yet.
        }
        self.conn = Some(connect(&self.options).await?.into());
        self.give_up_resting_readers();
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
        let Some(conn) = &mut self.conn else { return Err(gone()) };
        let mut session = Session::new(conn);
        let Ok(ran) = timeout(ANSWER_WAIT, job.run(&mut session)).await else {
            // Dropped in the middle of a statement: the connection cannot be used again.
            self.conn = None;
            return Err(gone());
        };
        let made = session.made;
        match ran {
            Ran::Keep => self.kept = true,
            Ran::Undo => self.execute("ROLLBACK TO SAVEPOINT job").await?,
            Ran::Abort => {}
        }
        Ok((ran, made))
    }

    async fn commit(&mut self) -> Result<(), StoreError> {
        self.execute(COMMIT).await
    }

    async fn rollback(&mut self) {
        // Outside a transaction this is a warning only. A connection that cannot even do this is given up; the server
        // rolls back what it had begun.
        if self.execute("ROLLBACK").await.is_err() {
            self.conn = None;
        }
    }

    async fn close(mut self: Box<Self>) {
        if let Some(conn) = self.conn.take()
            && let Err(error) = conn.close().await
        {
            tracing::warn!(error = %error, "the database connection was not closed in order");
        }
    }
}
