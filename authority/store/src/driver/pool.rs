//! Pools of connections that only read.

use sqlx::{PgPool, SqlitePool};

use super::{Connection, Error, Held};

/// A pool of either database.
#[derive(Clone)]
pub(crate) enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Pool {
    /// Waits for a connection.
    pub(crate) async fn acquire(&self) -> Result<Connection, Error> {
        Ok(match self {
            Self::Sqlite(pool) => Connection::Sqlite(Held::Pooled(pool.acquire().await?)),
            Self::Postgres(pool) => Connection::Postgres(Held::Pooled(pool.acquire().await?)),
        })
    }

    /// The connections that are open, those of them that nobody uses, and the most there may be.
    pub(crate) fn counts(&self) -> (u32, usize, u32) {
        match self {
            Self::Sqlite(pool) => (pool.size(), pool.num_idle(), pool.options().get_max_connections()),
            Self::Postgres(pool) => (pool.size(), pool.num_idle(), pool.options().get_max_connections()),
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(pool) => pool.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }
}
