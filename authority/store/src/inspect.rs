//! Reads a database without changing it: for the doctor.
//!
//! Nothing is created, migrated, locked or written, so inspection is safe beside running services, on a database of
//! another schema version, and on a damaged one. Everything that is read in one [`Inspection::snapshot`] shows the
//! database at one point in time, however long the reading takes.

use futures_util::future::BoxFuture;

use crate::migrations::Found;
use crate::ports::Snapshot;
use crate::store_url::StoreUrl;
use crate::{StoreError, postgres, sqlite};

/// A database that is inspected.
#[derive(Debug)]
pub struct Inspection {
    connection: Inspected,
    /// The schema version of the database; 0 when it is empty.
    pub schema_found: i64,
    /// The schema version that this program knows.
    pub schema_known: i64,
    /// Whether this program works with the schema of the database: it is the one that it knows, or a newer program has
    /// only added to that.
    pub schema_fits: bool,
}

#[derive(Debug)]
enum Inspected {
    Sqlite(Box<sqlite::DbConnection>),
    Postgres(Box<postgres::DbConnection>),
}

impl Inspection {
    /// Connects.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when there is no such database or it does not answer.
    pub async fn open(url: &StoreUrl) -> Result<Self, StoreError> {
        match url {
            StoreUrl::Sqlite(path) => {
                let (conn, found) = sqlite::inspect(path).await?;
                let connection = Inspected::Sqlite(Box::new(conn.into()));
                Ok(Self::of(connection, found, sqlite::known_version()))
            }
            StoreUrl::Postgres(url) => {
                let (conn, found) = postgres::inspect(url).await?;
                let connection = Inspected::Postgres(Box::new(conn.into()));
                Ok(Self::of(connection, found, postgres::known_version()))
            }
        }
    }

    fn of(connection: Inspected, found: Found, schema_known: i64) -> Self {
        Self { connection, schema_found: found.newest, schema_known, schema_fits: found.fits(schema_known) }
    }

    /// The database's own clock in milliseconds since the Unix epoch; `None` where the machine's clock is the only
    /// one.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the database does not answer.
    pub async fn clock_ms(&mut self) -> Result<Option<i64>, StoreError> {
        match &mut self.connection {
            Inspected::Sqlite(_) => Ok(None),
            Inspected::Postgres(conn) => Ok(Some(postgres::clock_ms(conn.raw()).await?)),
        }
    }

    /// Runs `work` inside one read-only transaction, which sees the database at one point in time.
    ///
    /// # Errors
    /// Whatever `work` returned, or that the transaction could not be opened.
    pub async fn snapshot<T, E, F>(&mut self, work: F) -> Result<T, E>
    where
        F: for<'t> FnOnce(&'t mut dyn Snapshot) -> BoxFuture<'t, Result<T, E>> + Send,
        E: From<StoreError>,
    {
        // A failure leaves the transaction open: the connection goes with the inspection and is not used again.
        match &mut self.connection {
            Inspected::Sqlite(conn) => {
                run(sqlx::raw_sql("BEGIN").execute(&mut **conn).await)?;
                let done = work(&mut sqlite::Session::new(conn)).await?;
                run(sqlx::raw_sql("ROLLBACK").execute(&mut **conn).await)?;
                Ok(done)
            }
            Inspected::Postgres(conn) => {
                let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
                run(sqlx::raw_sql(begin).execute(&mut **conn).await)?;
                let done = work(&mut postgres::Session::new(conn)).await?;
                run(sqlx::raw_sql("ROLLBACK").execute(&mut **conn).await)?;
                Ok(done)
            }
        }
    }

    /// Closes the connection.
    pub async fn close(self) {
        let closed = match self.connection {
            Inspected::Sqlite(conn) => conn.close().await,
            Inspected::Postgres(conn) => conn.close().await,
        };
        if let Err(error) = closed {
            tracing::warn!(error = %error, "the database connection was not closed in order");
        }
    }
}

fn run<T, E: From<StoreError>>(done: Result<T, sqlx::Error>) -> Result<(), E> {
    done.map(|_| ()).map_err(|error| StoreError::from(error).into())
}
