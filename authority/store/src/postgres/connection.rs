//! The writing connection of PostgreSQL.
//!
//! It sends BEGIN and COMMIT itself: sqlx 0.9.0's own `begin` can leave a connection inside a transaction when the
//! future around it is dropped (upstream #4385).

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use sqlx::postgres::PgConnectOptions;
use sqlx::{PgConnection, PgPool};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use super::connect::connect;
use super::turns;
use crate::driver::Dialect;
use crate::error::{Result, StoreError};
use crate::hand_off::{CommitEffects, DispatchHandle};
use crate::job::Job;
use crate::shards::ShardSet;
use crate::sql::transaction::Tx;
use crate::sql::transaction::first_reads::Prefetch;
use crate::sql::transaction::write_batch::{Failed, Ran};
use crate::writing_connection::WritingConnection;

/// The release fails in a transaction that an error has ended. A plain COMMIT would report success and roll back.
const COMMIT: &str = "RELEASE SAVEPOINT job; COMMIT";

/// SQLSTATE of a lock that was not to be had in time (PostgreSQL documentation, appendix A).
const LOCK_TIMEOUT: &str = "55P03";

/// SQLSTATE of a transaction that the server has ended because its client was silent.
const SILENT_TOO_LONG: &str = "25P03";

/// How long to wait for the server in the middle of a transaction. The server's own limits are shorter (`open`): this
/// one is for a server that is gone without notice.
const ANSWER_WAIT: Duration = Duration::from_secs(15);

/// Ends what is left of a transaction. The second one fails where nothing can be written, as on a server that was the
/// primary and is a standby now: a new connection may lead to the primary.
const ROLLBACK: &str = "ROLLBACK; BEGIN READ WRITE; ROLLBACK";

pub(crate) struct PostgresWriting {
    options: PgConnectOptions,
    readers: [PgPool; 2],
    /// `None` before the first transaction and after the connection failed: the next transaction opens a new one.
    tx: Option<Tx>,
    /// There was a connection.
    was_open: bool,
    /// The server was away, for one of the workers, and nobody has given up the readers since. Shared by all workers:
    /// the first that reaches the server again may be one that had no connection before.
    was_away: Arc<AtomicBool>,
}

impl PostgresWriting {
    pub(super) fn new(
        options: PgConnectOptions,
        readers: [PgPool; 2],
        conn: Option<(PgConnection, &'static Dialect)>,
        was_away: &Arc<AtomicBool>,
    ) -> Self {
        let was_open = conn.is_some();
        Self { options, readers, tx: conn.map(Tx::from), was_open, was_away: Arc::clone(was_away) }
    }

    /// Opens a new connection in place of one that is gone, or for the first time.
    async fn open(&mut self) -> Result<()> {
        if self.was_open {
            self.was_away.store(true, Ordering::Relaxed);
        }
        let opened = connect(&self.options).await;
        // A server that has no connection left is there, and the readers' connections to it are good.
        if matches!(&opened, Err(error) if !matches!(error, StoreError::NoConnectionLeft(_))) {
            self.was_away.store(true, Ordering::Relaxed);
        }
        self.tx = Some(opened?.into());
        self.was_open = true;
        if self.was_away.swap(false, Ordering::Relaxed) {
            self.give_up_resting_readers();
        }
        Ok(())
    }

    /// Closes the idle readers: whatever ended the writing connection is likely to have ended theirs, and the first
    /// requests to use them would get an error. Readers in use notice by themselves.
    fn give_up_resting_readers(&self) {
        for readers in &self.readers {
            while let Some(mut reader) = readers.try_acquire() {
                reader.close_on_drop();
            }
        }
    }

    /// Runs statements without parameters. A connection that does not answer in time is given up.
    async fn execute(&mut self, statements: &'static str) -> Result<()> {
        let Some(tx) = &mut self.tx else { return Err(gone()) };
        let done = timeout(ANSWER_WAIT, tx.conn.raw.control(statements)).await;
        self.in_time(done.map(|done| done.map_err(StoreError::from)))
    }

    /// The result, if it came in time. A connection that was left in the middle of a statement cannot be used again.
    fn in_time<T>(&mut self, done: Result<Result<T>, Elapsed>) -> Result<T> {
        done.unwrap_or_else(|_| {
            self.tx = None;
            Err(gone())
        })
    }

    /// Begins a transaction and takes its turns, in one round trip.
    async fn begin_now(&mut self, turns: ShardSet, wait: bool) -> Result<Option<ShardSet>> {
        let Some(tx) = &mut self.tx else { return Err(gone()) };
        let begun = timeout(ANSWER_WAIT, tx.conn.raw.turns(turns::begin(turns, wait))).await;
        let waited_in_vain = matches!(&begun, Ok(Err(error)) if wait && has_code(error, LOCK_TIMEOUT));
        let begun = self.in_time(begun.map(|done| done.map_err(StoreError::from)));
        match (&mut self.tx, &begun) {
            (Some(tx), Ok(held)) => tx.conn.begun(*held),
            _ => self.rollback().await,
        }
        if waited_in_vain { Ok(None) } else { begun.map(Some) }
    }
}

/// Whether the server had ended the connection before it got the statement: it says so, or there was nobody to write
/// to.
fn was_ended_before(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(error) => error.kind() == ErrorKind::BrokenPipe,
        error => has_code(error, SILENT_TOO_LONG),
    }
}

fn has_code(error: &sqlx::Error, code: &str) -> bool {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).is_some_and(|found| found == code)
}

fn gone() -> StoreError {
    StoreError::Unavailable("the writing connection is gone".to_owned())
}

#[async_trait]
impl WritingConnection for PostgresWriting {
    async fn begin(&mut self, turns: ShardSet, wait: bool) -> Result<Option<ShardSet>> {
        if self.tx.is_some() {
            let begun = self.begin_now(turns, wait).await;
            if begun.is_ok() || self.tx.is_some() {
                return begun;
            }
            // The server was restarted since the last transaction: nothing is lost yet.
        }
        self.open().await?;
        self.begin_now(turns, wait).await
    }

    async fn take_also(&mut self, turns: ShardSet) -> Result<ShardSet> {
        let Some(tx) = &mut self.tx else { return Err(gone()) };
        let taken = timeout(ANSWER_WAIT, tx.conn.raw.turns(turns::take_also(turns))).await;
        let taken = self.in_time(taken.map(|done| done.map_err(StoreError::from)));
        match (&mut self.tx, &taken) {
            (Some(tx), Ok(also)) => tx.conn.holds_also(*also),
            _ => self.rollback().await,
        }
        taken
    }

    async fn prefetch(&mut self, jobs: &[&Prefetch], dispatch: Option<Arc<DispatchHandle>>) -> Result<()> {
        let Some(tx) = &mut self.tx else { return Err(gone()) };
        let looked = timeout(ANSWER_WAIT, tx.look(jobs, dispatch)).await;
        self.in_time(looked)
    }

    fn take_cleared(&mut self) -> bool {
        self.tx.as_mut().is_some_and(|tx| tx.conn.cache.take_cleared())
    }

    async fn run(&mut self, index: usize, job: &mut Job) -> Result<(Ran, CommitEffects)> {
        let Some(tx) = self.tx.as_mut().filter(|tx| tx.conn.is_writing()) else { return Err(gone()) };
        let ran = timeout(ANSWER_WAIT, tx.run(index, job)).await;
        self.in_time(ran)
    }

    async fn finish(&mut self) -> Result<Failed> {
        let Some(tx) = &mut self.tx else { return Err(gone()) };
        let failed = timeout(ANSWER_WAIT, tx.conn.finish()).await;
        self.in_time(failed)
    }

    async fn commit(&mut self) -> Result<bool> {
        let Some(tx) = &mut self.tx else { return Err(gone()) };
        let done = timeout(ANSWER_WAIT, tx.conn.raw.control(COMMIT)).await;
        if matches!(&done, Ok(Err(error)) if was_ended_before(error)) {
            return Ok(false);
        }
        self.in_time(done.map(|done| done.map_err(StoreError::from)))?;
        if let Some(tx) = &mut self.tx {
            tx.conn.ended();
        }
        Ok(true)
    }

    async fn rollback(&mut self) {
        // Outside a transaction this is a warning only. A connection that cannot do this is given up; the server rolls
        // back what it had begun.
        if let Some(tx) = &mut self.tx {
            tx.conn.ended();
        }
        if self.execute(ROLLBACK).await.is_err() {
            self.tx = None;
        }
    }

    async fn close(mut self: Box<Self>) {
        if let Some(tx) = self.tx.take()
            && let Err(error) = tx.conn.raw.close().await
        {
            tracing::warn!(error = %error, "the database connection was not closed in order");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use postgres_cluster::{Cluster, Durability, Stop};
    use sqlx::postgres::PgPoolOptions;

    use super::*;

    /// The first to reach a server again is a worker that had no connection before: it has seen nothing break.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_reader_from_before_an_outage_is_used_whoever_ends_it() {
        let server = Arc::new(Cluster::start(Durability::Off));
        let options = PgConnectOptions::from_str(&server.database().await).unwrap();
        let readers = PgPoolOptions::new().test_before_acquire(false).connect_lazy_with(options.clone());
        let was_away = Arc::default();
        let conn = Some(connect(&options).await.unwrap());
        let worker =
            |conn| PostgresWriting::new(options.clone(), [readers.clone(), readers.clone()], conn, &was_away);
        let (mut first, mut second) = (worker(conn), worker(None));
        sqlx::raw_sql("SELECT 1").execute(&readers).await.unwrap();
        server.stop(Stop::Immediate);
        assert!(first.begin(ShardSet::NONE, false).await.is_err());
        server.start_again();
        second.begin(ShardSet::NONE, false).await.unwrap();
        sqlx::raw_sql("SELECT 1").execute(&readers).await.unwrap();
    }

    /// What was the primary and is a standby now keeps its connections; a new one may lead to the primary.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_server_on_which_nothing_can_be_written_is_left() {
        let primary = Cluster::start(Durability::Off);
        let standby = primary.standby().await;
        let address = primary.database().await;
        for (address, stays) in [(standby.address_of(&address), false), (address, true)] {
            let options = PgConnectOptions::from_str(&address).unwrap();
            let readers = PgPoolOptions::new().connect_lazy_with(options.clone());
            let conn = Some(connect(&options).await.unwrap());
            let mut worker = PostgresWriting::new(options, [readers.clone(), readers], conn, &Arc::default());
            worker.begin(ShardSet::NONE, false).await.unwrap();
            worker.rollback().await;
            assert_eq!(worker.tx.is_some(), stays);
        }
    }
}
