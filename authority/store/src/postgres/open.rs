//! Opening a PostgreSQL database: address, limits, schema, reader pools.

use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, PgConnection, PgPool};

use super::NOW_MS;
use super::connection::{PostgresWriting, connect};
use crate::StoreError;
use crate::migrations;
use crate::store::ServerUrl;
use crate::writer::WritingConnection;

/// Limits that the server enforces, in milliseconds. A statement waits at most 5 s for a lock, turns included. An
/// instance that begins a transaction and then falls silent loses the transaction, and its turns with it, after 4 s:
/// before those who wait for the turns give up.
const SERVER_LIMITS: [(&str, u32); 2] =
    [("lock_timeout", LOCK_WAIT_MS), ("idle_in_transaction_session_timeout", 4_000)];

/// How long a statement waits for a lock, in milliseconds.
pub(super) const LOCK_WAIT_MS: u32 = 5_000;

/// Transactions that one instance writes at a time.
const WORKERS: usize = 4;

/// How the server plans the writer's statements: each finds its rows by an index and reads a few, whatever the
/// statistics of a young database say, and is planned once for any number of rows.
const WRITER_PLANS: [(&str, &str); 3] =
    [("enable_seqscan", "off"), ("jit", "off"), ("plan_cache_mode", "force_generic_plan")];

/// How the server plans the readers' statements: by the values they ask for, with an index, in one process, and without
/// compiling the plan to machine code. How far a list looks ahead is a subquery, which the planner takes for a third of
/// the table: with a million orders it read all of them, in parallel, for a page that an index gives in 25 ms.
const READER_PLANS: [(&str, &str); 3] =
    [("enable_seqscan", "off"), ("jit", "off"), ("max_parallel_workers_per_gather", "0")];

/// Prepared statements that a connection keeps. Lists and batches have a text for every number of values in them.
const STATEMENTS_KEPT: usize = 256;

/// Readers for single records, authentication among them, and readers for lists. They are separate, so that a list
/// that has to read a lot does not delay authentication. Each reader is a connection of the server's.
const RECORD_READERS: u32 = 8;
const LIST_READERS: u32 = 4;

/// How long a request waits for a reader before it gets 503.
const READER_WAIT: Duration = Duration::from_secs(5);

/// A reader that was idle this long is checked before use; one in use shows by its answers that it is alive.
const READER_TRUSTED: Duration = Duration::from_secs(1);

/// An opened database.
pub(crate) struct Postgres {
    /// One connection for each of the writer's workers.
    pub(crate) writing: Vec<Box<dyn WritingConnection>>,
    pub(crate) record_readers: PgPool,
    pub(crate) list_readers: PgPool,
}

/// Opens the database at `url`, whose schema must be the one this program knows.
pub(crate) async fn open(url: &ServerUrl) -> Result<Postgres, StoreError> {
    let options = options(url)?;
    let mut conn = connect(&options.clone().options(WRITER_PLANS)).await?;
    let (found, known) = (schema_version(&mut conn).await?, known_version());
    if found < known {
        return Err(StoreError::OutdatedSchema { found, known });
    }
    refuse_newer(found, known)?;
    let reader = options.clone().options(READER_PLANS).options([("default_transaction_read_only", "on")]);
    let readers = |most| {
        PgPoolOptions::new()
            .max_connections(most)
            .acquire_timeout(READER_WAIT)
            .test_before_acquire(false)
            .before_acquire(|conn, reader| {
                Box::pin(async move { Ok(reader.idle_for < READER_TRUSTED || conn.ping().await.is_ok()) })
            })
            .connect_lazy_with(reader.clone())
    };
    let (record_readers, list_readers) = (readers(RECORD_READERS), readers(LIST_READERS));
    let readers = [record_readers.clone(), list_readers.clone()];
    let options = options.options(WRITER_PLANS);
    let mut first = Some(conn);
    let mut writing: Vec<Box<dyn WritingConnection>> = Vec::with_capacity(WORKERS);
    for _ in 0..WORKERS {
        writing.push(Box::new(PostgresWriting::new(options.clone(), readers.clone(), first.take())));
    }
    Ok(Postgres { writing, record_readers, list_readers })
}

/// Brings the schema up to date; refuses one that a newer program made (T9). Several processes may do so at once: the
/// first migrates, the others wait and find it done.
pub(crate) async fn migrate(url: &ServerUrl) -> Result<(), StoreError> {
    // This program sets no limit on waiting for another process's migration.
    let mut conn = connect(&address(url)?).await?;
    refuse_newer(schema_version(&mut conn).await?, known_version())?;
    // `run` takes any `Acquire`, and a future that holds one is not `Send` (upstream says so beside `run_direct`).
    migrations::POSTGRES
        .run_direct(None, &mut conn, false)
        .await
        .map_err(|error| StoreError::Unavailable(format!("migration: {error}")))?;
    conn.close().await?;
    Ok(())
}

/// Opens a connection for inspection, and returns the schema version, 0 when the database is empty.
pub(crate) async fn inspect(url: &ServerUrl) -> Result<(PgConnection, i64), StoreError> {
    let read_only = [("default_transaction_read_only", "on")];
    let mut conn = connect(&options(url)?.options(read_only)).await?;
    let found = schema_version(&mut conn).await?;
    Ok((conn, found))
}

/// The server's clock, in milliseconds since the Unix epoch.
pub(crate) async fn clock_ms(conn: &mut PgConnection) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar(sqlx::AssertSqlSafe(format!("SELECT {NOW_MS}"))).fetch_one(conn).await?)
}

fn options(url: &ServerUrl) -> Result<PgConnectOptions, StoreError> {
    Ok(address(url)?.options(SERVER_LIMITS).statement_cache_capacity(STATEMENTS_KEPT))
}

/// The reason is not reported: it may quote the address, which may hold a password.
fn address(url: &ServerUrl) -> Result<PgConnectOptions, StoreError> {
    let options = PgConnectOptions::from_str(url.as_str())
        .map_err(|_| StoreError::Unavailable("the address of the database cannot be read".to_owned()))?;
    Ok(options.application_name("authority"))
}

/// The newest migration in the database; 0 when there is none.
async fn schema_version(conn: &mut PgConnection) -> Result<i64, StoreError> {
    let has_table: bool = sqlx::query_scalar("SELECT to_regclass('_sqlx_migrations') IS NOT NULL")
        .fetch_one(&mut *conn)
        .await?;
    if !has_table {
        return Ok(0);
    }
    let found: Option<i64> =
        sqlx::query_scalar("SELECT MAX(version) FROM _sqlx_migrations WHERE success").fetch_one(conn).await?;
    Ok(found.unwrap_or(0))
}

fn refuse_newer(found: i64, known: i64) -> Result<(), StoreError> {
    if found > known { Err(StoreError::UnknownSchema { found, known }) } else { Ok(()) }
}

/// The schema version this program knows: its newest migration.
pub(crate) fn known_version() -> i64 {
    migrations::newest(&migrations::POSTGRES)
}

#[cfg(test)]
mod tests {
    use sqlx::AssertSqlSafe;

    use super::*;
    use crate::StoreUrl;

    /// Which plan a server prefers depends on its figures of a table; that it may not read a whole table does not.
    #[tokio::test]
    async fn no_reader_may_read_a_whole_table_or_start_helpers() {
        let address = postgres_cluster::database().await;
        let Some(StoreUrl::Postgres(url)) = StoreUrl::parse(&address) else { panic!("{address}") };
        migrate(&url).await.unwrap();
        let Postgres { record_readers, list_readers, .. } = open(&url).await.unwrap();
        for readers in [record_readers, list_readers] {
            for (setting, value) in [
                ("enable_seqscan", "off"),
                ("jit", "off"),
                ("max_parallel_workers_per_gather", "0"),
                ("default_transaction_read_only", "on"),
                ("lock_timeout", "5s"),
            ] {
                let show = AssertSqlSafe(format!("SHOW {setting}"));
                let found: String = sqlx::query_scalar(show).fetch_one(&readers).await.unwrap();
                assert_eq!(found, value, "{setting}");
            }
        }
    }
}
