//! Harm done to a database from beside, past everything that guards it: what a failing disk, a restored half or a hand
//! in the wrong place may leave behind.

use std::path::{Path, PathBuf};

use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

/// On SQLite the triggers that keep events as they are have to go and come back.
const SQLITE_GUARDS: &str =
    "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'events'";

/// On PostgreSQL no trigger fires for a replica, foreign keys are triggers, and checks have to go.
const POSTGRES_WITHOUT_GUARDS: &str = "SET session_replication_role = replica; \
    DO $$ DECLARE c record; BEGIN \
        FOR c IN SELECT conrelid::regclass AS owner, conname FROM pg_constraint \
            WHERE contype = 'c' AND connamespace = 'public'::regnamespace \
        LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.owner, c.conname); END LOOP; \
    END $$";

/// Copies the database at `url`, which nobody has open, and tells the copy's address.
pub async fn copy(url: &str, folder: &Path, name: &str) -> String {
    if let Some(path) = url.strip_prefix("sqlite://") {
        let to: PathBuf = folder.join(name);
        std::fs::copy(path, &to).unwrap();
        return format!("sqlite://{}", to.display());
    }
    postgres_cluster::copy(url).await
}

/// Runs statements with nothing in their way; tells how many rows they touched.
pub async fn damage(url: &str, statements: &str) -> u64 {
    if let Some(path) = url.strip_prefix("sqlite://") {
        let mut conn =
            SqliteConnectOptions::new().filename(path).foreign_keys(false).connect().await.unwrap();
        let guards: Vec<(String, String)> = sqlx::query_as(SQLITE_GUARDS).fetch_all(&mut conn).await.unwrap();
        let mut script = "PRAGMA ignore_check_constraints = ON;".to_owned();
        guards.iter().for_each(|(name, _)| script += &format!("DROP TRIGGER {name};"));
        sqlx::raw_sql(AssertSqlSafe(script)).execute(&mut conn).await.unwrap();
        let done = sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut conn).await.unwrap();
        for (_, guard) in guards {
            sqlx::raw_sql(AssertSqlSafe(guard)).execute(&mut conn).await.unwrap();
        }
        conn.close().await.unwrap();
        return done.rows_affected();
    }
    let mut conn = url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    // A service that reads meanwhile may hold what this waits for, and wait for what this holds.
    while let Err(error) = sqlx::raw_sql(POSTGRES_WITHOUT_GUARDS).execute(&mut conn).await {
        let code = error.as_database_error().and_then(|error| error.code());
        assert_eq!(code.as_deref(), Some("40P01"), "{error}");
    }
    let done = sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    done.rows_affected()
}

/// Runs statements as anybody could.
pub async fn execute(url: &str, statements: &str) {
    let script = AssertSqlSafe(statements.to_owned());
    if let Some(path) = url.strip_prefix("sqlite://") {
        let mut conn = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
        sqlx::raw_sql(script).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        return;
    }
    let mut conn = url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    sqlx::raw_sql(script).execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
}

/// What a statement counts.
pub async fn count(url: &str, statement: &str) -> i64 {
    let counted = AssertSqlSafe(statement.to_owned());
    if let Some(path) = url.strip_prefix("sqlite://") {
        let mut conn = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
        let count = sqlx::query_scalar(counted).fetch_one(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        return count;
    }
    let mut conn = url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    let count = sqlx::query_scalar(counted).fetch_one(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    count
}

/// Holds a SQLite database's only place for a writer, as a backup or a shell that was left open does.
#[derive(Debug)]
pub struct Locked(sqlx::SqliteConnection);

impl Locked {
    /// Takes it.
    pub async fn take(url: &str) -> Self {
        let path = url.strip_prefix("sqlite://").expect("a file");
        let mut conn = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
        sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut conn).await.unwrap();
        Self(conn)
    }

    /// Gives it back.
    pub async fn release(mut self) {
        sqlx::raw_sql("ROLLBACK").execute(&mut self.0).await.unwrap();
        self.0.close().await.unwrap();
    }
}
