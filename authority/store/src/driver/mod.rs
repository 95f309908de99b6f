//! The driver: one connection for both databases, and what goes over it.
//!
//! A statement is a [`Query`] that does not know its database: a text with its values. The connection writes it down
//! for the database that it leads to ([`statement`]), runs it as a prepared statement, and returns [`Row`]s, from
//! which columns are read as they came. Whatever the two databases say in different words stands in their
//! [`Dialect`]s.
//!
//! Nothing here knows of buffered rows: a job's statements go through [`crate::sql::transaction::statements`]. What the
//! databases' errors mean is read in `failure`.

mod dialect;
mod failure;
mod pool;
mod query;
mod row;
mod statement;
mod value;

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use sqlx::pool::PoolConnection;
use sqlx::{Connection as _, Database, Executor as _, PgConnection, Postgres, Sqlite};
use tokio::time::timeout;

pub(crate) use dialect::Dialect;
pub(crate) use pool::Pool;
pub(crate) use query::{Query, query};
pub(crate) use row::{Column, FromRow, Row};
pub(crate) use statement::{Statement, Target};
pub(crate) use value::{Kind, Value};

pub(crate) type Error = sqlx::Error;

/// How long a connection may take to answer when it returns to its pool; then it is dropped.
const RETURN_WAIT: Duration = Duration::from_secs(5);

/// A connection to either database.
pub(crate) enum Connection {
    Sqlite(Held<Sqlite>, &'static Dialect),
    /// With the words of PostgreSQL itself or of Citus.
    Postgres(Held<Postgres>, &'static Dialect),
}

/// A connection, and whose it is.
pub(crate) enum Held<D: Database> {
    Own(D::Connection),
    Pooled(PoolConnection<D>),
}

impl<D: Database> Deref for Held<D> {
    type Target = D::Connection;

    fn deref(&self) -> &D::Connection {
        match self {
            Self::Own(own) => own,
            Self::Pooled(pooled) => pooled,
        }
    }
}

impl<D: Database> DerefMut for Held<D> {
    fn deref_mut(&mut self) -> &mut D::Connection {
        match self {
            Self::Own(own) => own,
            Self::Pooled(pooled) => pooled,
        }
    }
}

impl From<(PgConnection, &'static Dialect)> for Connection {
    fn from((own, dialect): (PgConnection, &'static Dialect)) -> Self {
        Self::Postgres(Held::Own(own), dialect)
    }
}

impl Connection {
    /// How its database says what the two say differently.
    pub(crate) fn dialect(&self) -> &'static Dialect {
        match self {
            Self::Sqlite(_, dialect) | Self::Postgres(_, dialect) => dialect,
        }
    }

    /// All rows.
    pub(crate) async fn all<T: FromRow>(&mut self, query: Query<'_>) -> Result<Vec<T>, Error> {
        match self {
            Self::Sqlite(conn, _) => collect(conn.fetch(query.written::<Sqlite>()?)).await,
            Self::Postgres(conn, _) => collect(conn.fetch(query.written::<Postgres>()?)).await,
        }
    }

    /// The first row, if there is one.
    pub(crate) async fn optional<T: FromRow>(&mut self, query: Query<'_>) -> Result<Option<T>, Error> {
        let row: Option<Row> = match self {
            Self::Sqlite(conn, _) => conn.fetch_optional(query.written::<Sqlite>()?).await?.map(Row::Sqlite),
            Self::Postgres(conn, _) => {
                conn.fetch_optional(query.written::<Postgres>()?).await?.map(Row::Postgres)
            }
        };
        row.map(T::from_row).transpose()
    }

    /// The rows as they come.
    pub(crate) fn stream(&mut self, query: Query<'_>) -> Result<BoxStream<'_, Result<Row, Error>>, Error> {
        Ok(match self {
            Self::Sqlite(conn, _) => conn.fetch(query.written::<Sqlite>()?).map_ok(Row::Sqlite).boxed(),
            Self::Postgres(conn, _) => conn.fetch(query.written::<Postgres>()?).map_ok(Row::Postgres).boxed(),
        })
    }

    /// Runs a statement that returns no rows; returns how many it touched.
    pub(crate) async fn execute(&mut self, query: Query<'_>) -> Result<u64, Error> {
        Ok(match self {
            Self::Sqlite(conn, _) => conn.execute(query.written::<Sqlite>()?).await?.rows_affected(),
            Self::Postgres(conn, _) => conn.execute(query.written::<Postgres>()?).await?.rows_affected(),
        })
    }

    /// Runs statements without parameters.
    pub(crate) async fn control(&mut self, statements: &'static str) -> Result<(), Error> {
        match self {
            Self::Sqlite(conn, _) => sqlx::query(statements).execute(&mut **conn).await.map(drop),
            Self::Postgres(conn, _) => sqlx::raw_sql(statements).execute(&mut **conn).await.map(drop),
        }
    }

    /// Returns the connection to its pool. The pool asks the server first whether it still answers, and waits for that
    /// as long as it takes, with one connection less; so this waits for it, and not for ever.
    pub(crate) fn give_back(self) {
        if let Self::Postgres(Held::Pooled(mut conn), _) = self {
            tokio::spawn(timeout(RETURN_WAIT, conn.return_to_pool()));
        }
    }

    /// Drops a connection that does not answer, without a word to the server; the pool it came from opens another one.
    pub(crate) fn give_up(self) {
        match self {
            Self::Postgres(Held::Pooled(conn), _) => drop(conn.detach()),
            Self::Sqlite(..) | Self::Postgres(Held::Own(_), _) => {}
        }
    }

    /// Closes the connection; one that belongs to a pool returns to it.
    pub(crate) async fn close(self) -> Result<(), Error> {
        match self {
            Self::Sqlite(Held::Own(conn), _) => conn.close().await,
            Self::Postgres(Held::Own(conn), _) => conn.close().await,
            Self::Sqlite(Held::Pooled(_), _) | Self::Postgres(Held::Pooled(_), _) => Ok(()),
        }
    }
}

/// Reads rows to their end.
pub(crate) async fn collect<R, T: FromRow>(mut rows: BoxStream<'_, Result<R, Error>>) -> Result<Vec<T>, Error>
where
    Row: From<R>,
{
    let mut all = Vec::new();
    while let Some(row) = rows.try_next().await? {
        all.push(T::from_row(row.into())?);
    }
    Ok(all)
}
