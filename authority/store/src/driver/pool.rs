//! Pools of connections that only read.

use sqlx::{PgPool, SqlitePool};

use super::{Connection, Dialect, Error, Held};

/// A pool of either database.
#[derive(Clone)]
pub(crate) enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool, &'static Dialect),
}

impl Pool {
    /// Waits for a connection.
    pub(crate) async fn acquire(&self) -> Result<Connection, Error> {
        Ok(match self {
            Self::Sqlite(pool) => Connection::Sqlite(Held::Pooled(pool.acquire().await?)),
            Self::Postgres(pool, dialect) => {
                Connection::Postgres(Held::Pooled(pool.acquire().await?), dialect)
            }
        })
    }

    /// The connections that are open, those of them that nobody uses, and the most there may be.
    pub(crate) fn counts(&self) -> (u32, usize, u32) {
        match self {
            Self::Sqlite(pool) => (pool.size(), pool.num_idle(), pool.options().get_max_connections()),
            Self::Postgres(pool, _) => (pool.size(), pool.num_idle(), pool.options().get_max_connections()),
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(pool) => pool.close().await,
            Self::Postgres(pool, _) => pool.close().await,
        }
    }
}
