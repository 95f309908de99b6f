//! A connection that fills a database: nothing is flushed, no trigger of PostgreSQL runs and no reference is checked.
//! Secondary indexes are dropped first and made when all rows are there.

use bench_kit::database::sqlite_options;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection, SqliteConnection};

/// The server flushes again. What it has not flushed yet, whoever fills has the system write.
const FLUSHES: [&str; 3] = ["CHECKPOINT", "ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()"];
const NO_FLUSHES: [&str; 6] = [
    "ALTER SYSTEM SET fsync = off",
    "ALTER SYSTEM SET full_page_writes = off",
    "ALTER SYSTEM SET autovacuum = off",
    "ALTER SYSTEM SET max_wal_size = '2GB'",
    "SELECT pg_reload_conf()",
    "SET session_replication_role = replica; SET synchronous_commit = off; SET maintenance_work_mem = '512MB'",
];

/// Names and statements of the indexes that a constraint does not need.
const SQLITE_INDEXES: &str =
    "SELECT name || char(31) || sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL";
const POSTGRES_INDEXES: &str = "SELECT indexname || chr(31) || indexdef FROM pg_indexes WHERE schemaname = 'public' \
     AND indexname NOT IN (SELECT conname FROM pg_constraint)";

/// The connection, to a database that nobody else has open.
pub(crate) enum Bulk {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Bulk {
    pub(crate) async fn open(url: &str) -> Self {
        let Some(path) = url.strip_prefix("sqlite://") else {
            let conn = url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
            let mut bulk = Self::Postgres(conn);
            for statement in NO_FLUSHES {
                bulk.run(statement).await;
            }
            return bulk;
        };
        let options = sqlite_options(path).foreign_keys(false).pragma("cache_size", "-1000000");
        let mut bulk = Self::Sqlite(options.connect().await.unwrap());
        // A journal that is written ahead would hold everything once more.
        for pragma in ["journal_mode = DELETE", "journal_mode = OFF", "synchronous = OFF"] {
            bulk.run(&format!("PRAGMA {pragma}")).await;
        }
        bulk
    }

    /// Runs a statement that answers nothing.
    pub(crate) async fn run(&mut self, statement: &str) {
        let sql = sqlx::raw_sql(AssertSqlSafe(statement.to_owned()));
        match self {
            Self::Sqlite(conn) => drop(sql.execute(conn).await.unwrap()),
            Self::Postgres(conn) => drop(sql.execute(conn).await.unwrap()),
        }
    }

    /// The one column of a query, as text.
    pub(crate) async fn texts(&mut self, query: &str) -> Vec<String> {
        let sql = AssertSqlSafe(query.to_owned());
        match self {
            Self::Sqlite(conn) => sqlx::query_scalar(sql).fetch_all(conn).await.unwrap(),
            Self::Postgres(conn) => sqlx::query_scalar(sql).fetch_all(conn).await.unwrap(),
        }
    }

    /// Drops the indexes that hold no table together; the statements that make them again.
    pub(crate) async fn drop_indexes(&mut self) -> Vec<String> {
        let found = match self {
            Self::Sqlite(_) => self.texts(SQLITE_INDEXES).await,
            Self::Postgres(_) => self.texts(POSTGRES_INDEXES).await,
        };
        let mut made = Vec::new();
        for index in found {
            let (name, statement) = index.split_once('\u{1f}').unwrap();
            self.run(&format!("DROP INDEX {name}")).await;
            made.push(statement.to_owned());
        }
        made
    }

    /// Writes everything to the disk, as the authority finds it.
    pub(crate) async fn close(mut self) {
        if matches!(&self, Self::Postgres(_)) {
            self.run("VACUUM ANALYZE").await;
            for statement in FLUSHES {
                self.run(statement).await;
            }
        } else {
            self.run("PRAGMA journal_mode = WAL").await;
        }
        match self {
            Self::Sqlite(conn) => conn.close().await.unwrap(),
            Self::Postgres(conn) => conn.close().await.unwrap(),
        }
    }
}
