//! Opening a PostgreSQL database: address, limits, schema, reader pools.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, PgConnection, PgPool};

use super::connect::connect;
use super::connection::PostgresWriting;
use super::indexes;
use super::turns::LOCK_WAIT_MS;
use crate::driver::Dialect;
use crate::error::{Result, StoreError};
use crate::migrations::{self, FOUND, Found, Known};
use crate::store_url::ServerUrl;
use crate::writing_connection::WritingConnection;

/// Limits that the server enforces, in milliseconds. A statement waits at most 5 s for a lock, turns included. An
/// instance that begins a transaction and then falls silent loses the transaction, and its turns with it, before others
/// have waited a second for them (contract 21-6). Should it only have been slow, its jobs run again
/// ([`crate::writer`]).
const SERVER_LIMITS: [(&str, u32); 2] =
    [("lock_timeout", LOCK_WAIT_MS), ("idle_in_transaction_session_timeout", SILENCE_MS)];

/// How long an instance may be silent inside a transaction, in milliseconds. Between two statements it
/// computes and waits for nobody.
const SILENCE_MS: u32 = 900;

/// How long an inspection may be silent: it holds no turns, and computes between its statements, on a machine that may
/// be busy. One whose process has gone without a word does not keep its snapshot for ever.
const INSPECTION_SILENCE: &str = "60s";

/// Transactions that one instance writes at a time.
const WORKERS: usize = 4;

/// How long a migration waits for a table at a time, how often it tries, and how long it leaves the table alone in
/// between: a minute in all.
const MIGRATION_LOCK_WAIT_MS: u32 = 500;
const MIGRATION_TRIES: u32 = 60;
const MIGRATION_PAUSE: Duration = Duration::from_millis(500);

/// How the server plans the writer's statements: each finds its rows by an index and reads a few, whatever the
/// statistics of a young database say, and is planned once for any number of rows.
pub(super) const WRITER_PLANS: [(&str, &str); 3] =
    [("enable_seqscan", "off"), ("jit", "off"), ("plan_cache_mode", "force_generic_plan")];

/// How the server plans the readers' statements: by the values they ask for, with an index, in one process, and without
/// compiling the plan to machine code. How far a list looks ahead is a subquery, which the planner takes for a third of
/// the table: with a million orders it read all of them, in parallel, for a page that an index gives in 25 ms.
pub(super) const READER_PLANS: [(&str, &str); 3] =
    [("enable_seqscan", "off"), ("jit", "off"), ("max_parallel_workers_per_gather", "0")];

/// Prepared statements that a connection keeps. Lists and batches have a text for every number of values in them.
const STATEMENTS_KEPT: usize = 256;

/// Readers for single records, authentication among them, and readers for lists. They are separate, so that a list
/// that has to read a lot does not delay authentication. Each reader is a connection of the server's.
const RECORD_READERS: u32 = 8;
const LIST_READERS: u32 = 4;

/// How long a request waits for a reader before it gets 503, after its first tries ([`crate::driver::Pool`]): 5 s in
/// all.
const READER_WAIT: Duration = Duration::from_secs(2);

/// A reader that was idle this long is checked before use; one in use shows by its answers that it is alive.
const READER_TRUSTED: Duration = Duration::from_secs(1);

/// An opened database.
pub(crate) struct Postgres {
    /// Its words: PostgreSQL's own, or those of Citus.
    pub(crate) dialect: &'static Dialect,
    /// One connection for each of the writer's workers.
    pub(crate) writing: Vec<Box<dyn WritingConnection>>,
    pub(crate) record_readers: PgPool,
    pub(crate) list_readers: PgPool,
}

/// Opens the database at `url`, with whose schema this program must work.
pub(crate) async fn open(url: &ServerUrl) -> Result<Postgres> {
    let options = options(url)?;
    let (mut conn, dialect) = connect(&options.clone().options(WRITER_PLANS)).await?;
    let known = known().newest;
    let found = schema(&mut conn).await?.refuse_breaking(known)?.newest;
    if found < known {
        return Err(StoreError::OutdatedSchema { found, known });
    }
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
    let (mut first, was_away) = (Some((conn, dialect)), Arc::default());
    let mut writing: Vec<Box<dyn WritingConnection>> = Vec::with_capacity(WORKERS);
    for _ in 0..WORKERS {
        writing.push(Box::new(PostgresWriting::new(
            options.clone(),
            readers.clone(),
            first.take(),
            &was_away,
        )));
    }
    Ok(Postgres { dialect, writing, record_readers, list_readers })
}

/// Brings the schema up to date; refuses one that a newer program has changed (T9). Several processes may do so at
/// once: the first migrates, the others wait and find it done.
///
/// Beside running services a migration waits for a table only for a moment, and tries again: everybody else who wants
/// the table waits behind it. Then indexes are built that nobody waits for.
pub(crate) async fn migrate(url: &ServerUrl) -> Result<()> {
    let mut conn = connect_to_migrate(url).await?;
    migrated(&mut conn).await?;
    conn.close().await?;
    Ok(())
}

/// A connection that waits for a table only for a moment.
pub(super) async fn connect_to_migrate(url: &ServerUrl) -> Result<PgConnection> {
    Ok(connect(&address(url)?.options([("lock_timeout", MIGRATION_LOCK_WAIT_MS)])).await?.0)
}

/// The same as [`migrate`] on such a connection.
pub(super) async fn migrated(conn: &mut PgConnection) -> Result<()> {
    schema(conn).await?.refuse_breaking(known().newest)?;
    apply(&migrations::POSTGRES, conn).await?;
    indexes::build(conn).await
}

/// Runs the migrations that the database does not have, and leaves a table to those who use it as often as it must.
async fn apply(migrations: &Migrator, conn: &mut PgConnection) -> Result<()> {
    let mut tries = 0;
    loop {
        // `run` takes any `Acquire`, and a future that holds one is not `Send` (upstream says so beside `run_direct`).
        let Err(error) = migrations.run_direct(None, &mut *conn, false).await else { return Ok(()) };
        tries += 1;
        if tries == MIGRATION_TRIES || !waited_for_lock(&error) {
            return Err(StoreError::Unavailable(format!("migration: {error}")));
        }
        tokio::time::sleep(MIGRATION_PAUSE).await;
    }
}

/// Whether the migration gave up because it waited too long for a table, or for another process's migration.
fn waited_for_lock(error: &MigrateError) -> bool {
    let (MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _)) = error else {
        return false;
    };
    cause.as_database_error().and_then(sqlx::error::DatabaseError::code).as_deref() == Some("55P03")
}

/// Opens a connection for inspection, and returns what it says of its schema.
pub(crate) async fn inspect(url: &ServerUrl) -> Result<((PgConnection, &'static Dialect), Found)> {
    let inspecting = [
        ("default_transaction_read_only", "on"),
        ("idle_in_transaction_session_timeout", INSPECTION_SILENCE),
    ];
    let (mut conn, dialect) = connect(&options(url)?.options(inspecting)).await?;
    let found = schema(&mut conn).await?;
    Ok(((conn, dialect), found))
}

fn options(url: &ServerUrl) -> Result<PgConnectOptions> {
    Ok(address(url)?.options(SERVER_LIMITS).statement_cache_capacity(STATEMENTS_KEPT))
}

/// The reason is not reported: it may quote the address, which may hold a password.
fn address(url: &ServerUrl) -> Result<PgConnectOptions> {
    let options = PgConnectOptions::from_str(url.as_str())
        .map_err(|_| StoreError::Unavailable("the address of the database cannot be read".to_owned()))?;
    Ok(options.application_name("authority"))
}

/// What the database says of its schema.
async fn schema(conn: &mut PgConnection) -> Result<Found> {
    let has_table: bool = sqlx::query_scalar("SELECT to_regclass('_sqlx_migrations') IS NOT NULL")
        .fetch_one(&mut *conn)
        .await?;
    if !has_table {
        return Ok(Found::default());
    }
    Ok(Found::new(sqlx::query_as(FOUND).bind(known().newest).bind(known().first).fetch_one(conn).await?))
}

/// The schema that this program knows.
fn known() -> Known {
    migrations::known(&migrations::POSTGRES)
}

#[cfg(test)]
mod tests {
    use sqlx::AssertSqlSafe;

    use super::*;
    use crate::migrations::tests::with_later;
    use crate::store_url::StoreUrl;

    /// It was taken for silent on a machine with too much to do, as an instance that holds turns is after 0.9 s.
    #[tokio::test]
    async fn an_inspection_has_time_to_compute() {
        let url = StoreUrl::parse(&postgres_cluster::database().await).unwrap();
        let StoreUrl::Postgres(url) = url else { panic!("the address of a server") };
        let ((mut conn, _), _) = inspect(&url).await.unwrap();
        let limit: String = sqlx::query_scalar("SHOW idle_in_transaction_session_timeout")
            .fetch_one(&mut conn)
            .await
            .unwrap();
        assert_eq!(limit, "1min");
        conn.close().await.unwrap();
    }

    /// A migration that waits for a table does not let everybody else wait behind it.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_migration_gives_way_to_those_who_use_the_tables() {
        let address = postgres_cluster::database().await;
        let connect = async || {
            let limit = [("lock_timeout", MIGRATION_LOCK_WAIT_MS)];
            connect(&PgConnectOptions::from_str(&address).unwrap().options(limit)).await.unwrap().0
        };
        let mut conn = connect().await;
        apply(&migrations::POSTGRES, &mut conn).await.unwrap();
        let (mut reader, mut other) = (connect().await, connect().await);
        sqlx::raw_sql("BEGIN; SELECT COUNT(*) FROM merchants").execute(&mut reader).await.unwrap();
        let migration =
            tokio::spawn(
                async move { apply(&with_later(&migrations::POSTGRES), &mut conn).await.map(|()| conn) },
            );
        let waits = "SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND relation = 'merchants'::regclass \
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        // It queues for the table, and gives up its place while the reader goes on.
        for waiting in [1_i64, 0] {
            let seen = async {
                while sqlx::query_scalar::<_, i64>(waits).fetch_one(&mut other).await.unwrap() != waiting {}
            };
            tokio::time::timeout(Duration::from_secs(60), seen).await.unwrap();
        }
        sqlx::raw_sql("COMMIT").execute(&mut reader).await.unwrap();
        let mut conn = migration.await.unwrap().unwrap();
        let later = "SELECT COUNT(*) FROM _sqlx_migrations WHERE version = 9001 AND success";
        let later: i64 = sqlx::query_scalar(later).fetch_one(&mut conn).await.unwrap();
        assert_eq!(later, 1);
    }

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
