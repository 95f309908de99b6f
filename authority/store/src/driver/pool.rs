//! Pools of connections that only read.

use std::pin::pin;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{Connection as _, PgPool, Postgres, SqlitePool};
use tokio::time::timeout;

use super::{Connection, Dialect, Error, Held};

/// A read asks its pool anew so often, and looks so often in between whether another read has given a connection back.
const TRIES: usize = 3;
const LOOKS: usize = 10;
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long a connection that was given back may take to show that it is alive.
const ALIVE: Duration = Duration::from_millis(250);

/// A pool of either database.
#[derive(Clone)]
pub(crate) enum Pool {
    Sqlite(SqlitePool, &'static Dialect),
    Postgres(PgPool, &'static Dialect),
}

impl Pool {
    /// Waits for a connection.
    pub(crate) async fn acquire(&self) -> Result<Connection, Error> {
        Ok(match self {
            Self::Sqlite(pool, dialect) => Connection::Sqlite(Held::Pooled(pool.acquire().await?), dialect),
            Self::Postgres(pool, dialect) => {
                Connection::Postgres(Held::Pooled(acquire(pool).await?), dialect)
            }
        })
    }

    /// The connections that are open, those of them that nobody uses, and the most there may be.
    pub(crate) fn counts(&self) -> (u32, usize, u32) {
        match self {
            Self::Sqlite(pool, _) => (pool.size(), pool.num_idle(), pool.options().get_max_connections()),
            Self::Postgres(pool, _) => (pool.size(), pool.num_idle(), pool.options().get_max_connections()),
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(pool, _) => pool.close().await,
            Self::Postgres(pool, _) => pool.close().await,
        }
    }
}

/// Waits for a connection. A pool that has begun to open a new one tries until its time is up, also while the server
/// has none left and others return to the pool. So reads look for those, and ask anew after a second: where there are
/// always others who wait, what returns is theirs.
async fn acquire(pool: &PgPool) -> Result<PoolConnection<Postgres>, Error> {
    for _ in 0..TRIES {
        let mut acquiring = pin!(pool.acquire());
        for _ in 0..LOOKS {
            if let Ok(acquired) = timeout(LOOK_EVERY, &mut acquiring).await {
                return acquired;
            }
            let Some(mut returned) = pool.try_acquire() else { continue };
            if matches!(timeout(ALIVE, returned.ping()).await, Ok(Ok(()))) {
                return Ok(returned);
            }
            drop(returned.detach());
        }
    }
    pool.acquire().await
}
