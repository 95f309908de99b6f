//! A SQLite file of its own for each test, and the cases that concern files.

mod full_disk;
mod opening;
mod sharing;
mod undoing;

use std::path::PathBuf;

use authority_store::{Access, Store, StoreError, StoreUrl};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, SqliteConnection};
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::cases::Database;
use crate::shards::statements;

/// A database file in a directory that goes away with it.
pub(crate) struct SqliteFile {
    directory: TempDir,
}

impl SqliteFile {
    pub(crate) async fn start() -> Self {
        statements::watch();
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// A copy of one that was migrated once.
    pub(crate) async fn migrated() -> Self {
        static FILE: OnceCell<Vec<u8>> = OnceCell::const_new();
        let migrate = async || {
            let empty = Self::start().await;
            Store::migrate(&empty.url()).await.unwrap();
            std::fs::read(empty.path()).unwrap()
        };
        let copy = Self::start().await;
        std::fs::write(copy.path(), FILE.get_or_init(migrate).await).unwrap();
        copy
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("authority.db")
    }

    pub(crate) async fn connect(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(self.path()).foreign_keys(true);
        // What a test asks beside the store is not the store's.
        options.disable_statement_logging().connect().await.unwrap()
    }
}

#[async_trait::async_trait]
impl Database for SqliteFile {
    async fn open(&self) -> Result<Store, StoreError> {
        Store::open(&StoreUrl::Sqlite(self.path()), Access::Exclusive).await
    }

    fn url(&self) -> StoreUrl {
        StoreUrl::Sqlite(self.path())
    }

    async fn execute(&self, sql: &str) -> Result<u64, String> {
        let done = sqlx::query(AssertSqlSafe(sql)).execute(&mut self.connect().await).await;
        done.map(|done| done.rows_affected()).map_err(|error| error.to_string())
    }

    async fn number(&self, sql: &str) -> i64 {
        sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut self.connect().await).await.unwrap()
    }
}

crate::cases::conformance!(SqliteFile);
