//! Reads a database without changing it: for the doctor.
//!
//! Nothing is created, migrated, locked or written, so inspection is safe beside running services, on a database of
//! another schema version, and on a damaged one. Everything that is read in one [`Inspection::snapshot`] shows the
//! database at one point in time, however long the reading takes.

use futures_util::future::BoxFuture;

use crate::driver::query;
use crate::error::{Result, StoreError};
use crate::sql::transaction::Tx;
use crate::store_url::StoreUrl;
use crate::{postgres, sqlite};

/// A database that is inspected.
#[derive(Debug)]
pub struct Inspection {
    tx: Tx,
    /// The schema version of the database; 0 when it is empty.
    pub schema_found: i64,
    /// The schema version that this program knows.
    pub schema_known: i64,
    /// Whether this program works with the schema of the database: it is the one that it knows, or a newer program has
    /// only added to that.
    pub schema_fits: bool,
}

impl Inspection {
    /// Connects.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when there is no such database or it does not answer,
    /// [`StoreError::NoConnectionLeft`] when its server has none left.
    pub async fn open(url: &StoreUrl) -> Result<Self> {
        let (tx, found): (Tx, _) = match url {
            StoreUrl::Sqlite(path) => {
                sqlite::inspect(path).await.map(|(conn, found)| (conn.into(), found))?
            }
            StoreUrl::Postgres(url) => {
                postgres::inspect(url).await.map(|(conn, found)| (conn.into(), found))?
            }
        };
        let schema_known = (tx.conn.dialect().known)().newest;
        Ok(Self { tx, schema_found: found.newest, schema_known, schema_fits: found.fits(schema_known) })
    }

    /// The database's own clock in milliseconds since the Unix epoch; `None` where the machine's clock is the only
    /// one.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the database does not answer.
    pub async fn clock_ms(&mut self) -> Result<Option<i64>> {
        let dialect = self.tx.conn.dialect();
        if !dialect.has_clock {
            return Ok(None);
        }
        Ok(query(format!("SELECT {}", dialect.now_ms)).read_optional(&mut self.tx.conn).await?)
    }

    /// Runs `work` inside one read-only transaction, which sees the database at one point in time.
    ///
    /// # Errors
    /// Whatever `work` returned, or that the transaction could not be opened.
    pub async fn snapshot<T, E, F>(&mut self, work: F) -> Result<T, E>
    where
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send,
        E: From<StoreError>,
    {
        // A failure leaves the transaction open: the connection goes with the inspection and is not used again.
        self.control(self.tx.conn.dialect().begin_snapshot).await?;
        let done = work(&mut self.tx).await?;
        self.control("ROLLBACK").await?;
        Ok(done)
    }

    async fn control(&mut self, statement: &'static str) -> Result<()> {
        Ok(self.tx.conn.raw.control(statement).await?)
    }

    /// Closes the connection.
    pub async fn close(self) {
        if let Err(error) = self.tx.conn.raw.close().await {
            tracing::warn!(error = %error, "the database connection was not closed in order");
        }
    }
}
