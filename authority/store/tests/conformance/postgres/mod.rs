//! A database of its own for each test on a real server, and the cases that concern servers.

mod few_connections;
mod indexes;
mod instances;
mod lost;
mod opening;
mod platform_endpoint;
mod restart;
mod row_locks;
mod turns;

use authority_store::{Access, Store, StoreError, StoreUrl};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};
use tokio::sync::OnceCell;

use crate::cases::Database;
use crate::shards::statements;

/// An empty database.
pub(crate) struct PostgresDatabase {
    address: String,
}

impl PostgresDatabase {
    pub(crate) async fn start() -> Self {
        statements::watch();
        Self { address: postgres_cluster::database().await }
    }

    /// A copy of one that was migrated once.
    pub(crate) async fn migrated() -> Self {
        static ORIGINAL: OnceCell<String> = OnceCell::const_new();
        let migrate = async || {
            let empty = Self::start().await;
            Store::migrate(&empty.url()).await.unwrap();
            empty.address
        };
        Self { address: postgres_cluster::copy(ORIGINAL.get_or_init(migrate).await).await }
    }

    pub(crate) async fn connect(&self) -> PgConnection {
        let options = self.address.parse::<PgConnectOptions>().unwrap();
        // What a test asks beside the store is not the store's.
        options.disable_statement_logging().connect().await.unwrap()
    }
}

#[async_trait::async_trait]
impl Database for PostgresDatabase {
    async fn open(&self) -> Result<Store, StoreError> {
        Store::migrate(&self.url()).await?;
        Store::open(&self.url(), Access::Exclusive).await
    }

    fn url(&self) -> StoreUrl {
        StoreUrl::parse(&self.address).unwrap()
    }

    async fn execute(&self, sql: &str) -> Result<u64, String> {
        let done = sqlx::query(AssertSqlSafe(sql)).execute(&mut self.connect().await).await;
        done.map(|done| done.rows_affected()).map_err(|error| error.to_string())
    }

    async fn number(&self, sql: &str) -> i64 {
        sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut self.connect().await).await.unwrap()
    }
}

crate::cases::conformance!(PostgresDatabase);
