//! Connections that only read: a pool for single records and one for lists, so that neither waits for the other.

use futures_util::future::BoxFuture;
use sqlx::{PgPool, SqlitePool};

use crate::StoreError;
use crate::job::JobError;
use crate::ports::Tx;
use crate::{postgres, sqlite};

/// Connections that read, all with the same kind of work.
#[derive(Clone)]
pub(crate) enum Readers {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// How many connections a pool of readers has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReaderCount {
    /// `records` or `lists`.
    pub name: &'static str,
    /// Open ones.
    pub open: i64,
    /// Of these, those that nobody uses.
    pub idle: i64,
    /// The most there may be.
    pub limit: i64,
}

impl Readers {
    pub(crate) fn count(&self, name: &'static str) -> ReaderCount {
        let (open, idle, limit) = match self {
            Self::Sqlite(pool) => (pool.size(), pool.num_idle(), pool.options().get_max_connections()),
            Self::Postgres(pool) => (pool.size(), pool.num_idle(), pool.options().get_max_connections()),
        };
        let idle = i64::try_from(idle).unwrap_or(i64::MAX).min(open.into());
        ReaderCount { name, open: open.into(), idle, limit: limit.into() }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(pool) => pool.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }

    /// Reads in a task of its own: the caller may hang up, and the connection still returns to its pool intact (T10).
    pub(crate) async fn read<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: for<'t> FnOnce(&'t mut dyn Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
        T: Send + 'static,
        E: JobError,
    {
        let readers = self.clone();
        let reading = tokio::spawn(async move {
            match readers {
                Readers::Sqlite(pool) => {
                    let conn = pool.acquire().await.map_err(StoreError::from)?;
                    let mut conn = sqlite::DbConnection::from(conn);
                    work(&mut sqlite::Session::new(&mut conn)).await
                }
                Readers::Postgres(pool) => {
                    let conn = pool.acquire().await.map_err(StoreError::from)?;
                    let mut conn = postgres::DbConnection::from(conn);
                    work(&mut postgres::Session::new(&mut conn)).await
                }
            }
        });
        reading.await.unwrap_or_else(|_| Err(StoreError::Broken("a reading job panicked".to_owned()).into()))
    }
}
