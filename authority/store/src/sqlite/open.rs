//! Opening a SQLite database: options, lock, migrations, reader pool.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions, SqliteConnection, SqlitePool};

use super::connection::SqliteWriting;
use crate::error::{Result, StoreError};
use crate::migrations::{self, FOUND, Found, Known};
use crate::store_url::Access;

/// How long a statement waits for another process's lock (contract 8.4: at least 5 s).
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Readers for single records, authentication among them, and readers for lists. They are separate, so that a list
/// that has to read a lot does not delay authentication. Each reader is a thread.
const RECORD_READERS: u32 = 4;
const LIST_READERS: u32 = 4;

/// Rows that a reader fetches before they are consumed. The default is 50, which is many megabytes for large records.
const ROWS_AHEAD: usize = 8;

/// How long a request waits for a reader before it gets 503.
const READER_WAIT: Duration = Duration::from_secs(5);

/// WAL pages before an automatic checkpoint: measured +35 % writes over the default of 1,000.
const CHECKPOINT_PAGES: &str = "8000";

/// Prepared statements that a connection keeps. Writes have a text for each of a few numbers of rows.
const STATEMENTS_KEPT: usize = 256;

/// The page caches of the writer and of each reader, in KiB.
const WRITER_CACHE: &str = "-32768";
const READER_CACHE: &str = "-2000";

/// An opened database.
pub(crate) struct Sqlite {
    pub(crate) writing: SqliteWriting,
    pub(crate) record_readers: SqlitePool,
    pub(crate) list_readers: SqlitePool,
    /// Held as long as the store lives.
    pub(crate) lock: Option<ServerLock>,
}

/// Keeps a second `serve` away from the same file.
#[derive(Debug)]
pub(crate) struct ServerLock(File);

impl Drop for ServerLock {
    /// Unlocks explicitly: closing the file is not enough, because a child process that is just being started has a
    /// copy of it.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Opens the file at `path`, creating it when `access` is to migrate.
pub(crate) async fn open(path: &Path, access: Access) -> Result<Sqlite> {
    let lock = match access {
        Access::Exclusive => Some(take_lock(path)?),
        Access::Shared => None,
    };
    make_private(path)
        .map_err(|error| StoreError::Unavailable(format!("{} cannot be made: {error}", path.display())))?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .statement_cache_capacity(STATEMENTS_KEPT)
        .pragma("wal_autocheckpoint", CHECKPOINT_PAGES);
    let cannot_open =
        |error| StoreError::Unavailable(format!("{} cannot be opened: {error}", path.display()));
    let writer = options.clone().pragma("cache_size", WRITER_CACHE);
    let writer = match temporary_files(path) {
        Some(directory) => writer.pragma("temp_store_directory", directory),
        None => writer,
    };
    let mut conn = writer.connect().await.map_err(cannot_open)?;
    migrate(&mut conn).await?;
    if lock.is_some() {
        forget_statistics(&mut conn).await?;
    }
    let readers = |most| {
        SqlitePoolOptions::new().max_connections(most).acquire_timeout(READER_WAIT).connect_lazy_with(
            options
                .clone()
                .create_if_missing(false)
                .read_only(true)
                .row_buffer_size(ROWS_AHEAD)
                .pragma("cache_size", READER_CACHE),
        )
    };
    let (record_readers, list_readers) = (readers(RECORD_READERS), readers(LIST_READERS));
    Ok(Sqlite { writing: SqliteWriting::new(writer, conn), record_readers, list_readers, lock })
}

/// Where SQLite writes what outgrows its memory, as a quoted name: beside the database, where it can write. The
/// system's own directory may not exist, or may not be writable.
fn temporary_files(path: &Path) -> Option<String> {
    let parent = path.parent()?;
    let directory = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    Some(format!("'{}'", directory.to_str()?.replace('\'', "''")))
}

/// Creates the database file, readable by its owner alone, when it does not exist. SQLite gives its log and its index
/// the same mode.
pub(crate) fn make_private(path: &Path) -> std::io::Result<()> {
    match private().truncate(false).open(path) {
        // A file that cannot be written may still be read; SQLite reports what it needs.
        Err(error) if error.kind() != std::io::ErrorKind::PermissionDenied => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Files are created for their owner alone. An existing file keeps its mode.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn take_lock(path: &Path) -> Result<ServerLock> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let unavailable = |error: std::io::Error| StoreError::Unavailable(format!("the lock file: {error}"));
    let file = private().truncate(false).open(PathBuf::from(name)).map_err(unavailable)?;
    match file.try_lock() {
        Ok(()) => Ok(ServerLock(file)),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked),
        Err(TryLockError::Error(error)) => Err(unavailable(error)),
    }
}

/// Opens the file at `path` for inspection, and returns what it says of its schema.
pub(crate) async fn inspect(path: &Path) -> Result<(SqliteConnection, Found)> {
    let options = SqliteConnectOptions::new().filename(path).read_only(true).busy_timeout(BUSY_TIMEOUT);
    let cannot_open =
        |error| StoreError::Unavailable(format!("{} cannot be opened: {error}", path.display()));
    let mut conn = options.connect().await.map_err(cannot_open)?;
    let found = schema(&mut conn).await?;
    Ok((conn, found))
}

/// What the database says of its schema.
async fn schema(conn: &mut SqliteConnection) -> Result<Found> {
    let has_table: Option<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name = '_sqlx_migrations'",
    )
    .fetch_optional(&mut *conn)
    .await?;
    if has_table.is_none() {
        return Ok(Found::default());
    }
    Ok(Found::new(sqlx::query_as(FOUND).bind(known().newest).bind(known().first).fetch_one(conn).await?))
}

/// Brings the schema up to date; refuses one that a newer program has changed (T9).
async fn migrate(conn: &mut SqliteConnection) -> Result<()> {
    schema(conn).await?.refuse_breaking(known().newest)?;
    // `run` takes any `Acquire`, and a future that holds one is not `Send` (upstream says so beside `run_direct`).
    migrations::SQLITE
        .run_direct(None, conn, false)
        .await
        .map_err(|error| StoreError::Unavailable(format!("migration: {error}")))
}

/// Drops what an `ANALYZE` has left. Statements find their indexes without it, whatever a table grows to; counts of a
/// day on which tables were small make SQLite read them whole ever after. After one, a paid order took twenty times
/// the processor time (`cargo xtask bench authority`).
async fn forget_statistics(conn: &mut SqliteConnection) -> Result<()> {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4')",
    )
    .fetch_all(&mut *conn)
    .await?;
    for table in tables {
        sqlx::raw_sql(AssertSqlSafe(format!("DROP TABLE {table}"))).execute(&mut *conn).await?;
        tracing::warn!(
            table,
            "statistics that ANALYZE made were dropped: with them, statements read tables whole"
        );
    }
    Ok(())
}

/// The schema that this program knows.
fn known() -> Known {
    migrations::known(&migrations::SQLITE)
}

#[cfg(test)]
mod tests {
    use sqlx::Connection as _;

    use super::*;

    #[tokio::test]
    async fn statistics_are_dropped_when_the_service_starts_and_by_no_command() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        drop(open(&path, Access::Exclusive).await.unwrap());
        let mut conn = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
        sqlx::raw_sql("ANALYZE").execute(&mut conn).await.unwrap();
        for (access, expected) in
            [(Access::Shared, true), (Access::Exclusive, false), (Access::Exclusive, false)]
        {
            drop(open(&path, access).await.unwrap());
            let left: bool =
                sqlx::query_scalar("SELECT COUNT(*) > 0 FROM sqlite_master WHERE name LIKE 'sqlite_stat%'")
                    .fetch_one(&mut conn)
                    .await
                    .unwrap();
            assert_eq!(left, expected, "{access:?}");
        }
        conn.close().await.unwrap();
    }

    #[test]
    fn temporary_files_are_beside_the_database() {
        let quoted = |path: &str| temporary_files(Path::new(path));
        assert_eq!(quoted("/var/lib/authority/a.db").as_deref(), Some("'/var/lib/authority'"));
        assert_eq!(quoted("/var/o'clock/a.db").as_deref(), Some("'/var/o''clock'"));
        assert_eq!(quoted("a.db").as_deref(), Some("'.'"));
    }
}
