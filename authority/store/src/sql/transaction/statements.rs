//! Statements on a connection that buffers its writes: each first makes visible what it may see.

use futures_util::stream::BoxStream;

use super::lookups::{Asked, Found};
use super::write_buffer::BufferedConnection;
use crate::driver::{Error, FromRow, Query, Row};
use crate::error::{Result, StoreError};

impl BufferedConnection {
    /// Asks these lookups, which see rows that are buffered under the keys `about`.
    pub(crate) async fn look_up(&mut self, asked: &[Asked], about: &[String]) -> Result<Vec<Found>> {
        self.before_reading(Some(about)).await?;
        Ok(self.raw.look_up(asked).await?.into_iter().map(Found).collect())
    }

    /// Makes everything that a read may see visible to it: the rows with the keys that it names, or all.
    async fn before_reading(&mut self, about: Option<&[String]>) -> Result<(), Error> {
        match about {
            Some(keys) if !keys.iter().any(|key| self.waits(key)) => self.ready().await,
            _ => self.settle().await,
        }
    }

    async fn before_writing(&mut self) -> Result<(), Error> {
        self.settle().await?;
        self.writes();
        Ok(())
    }
}

impl Query<'_> {
    /// Reads all rows.
    ///
    /// # Errors
    /// The database's error, also for rows that were buffered and that the read may see; as with all that follows.
    pub(crate) async fn read<T: FromRow>(self, conn: &mut BufferedConnection) -> Result<Vec<T>, Error> {
        conn.before_reading(self.about).await?;
        conn.raw.all(self).await
    }

    /// Reads the first row, if there is one.
    pub(crate) async fn read_optional<T: FromRow>(
        self,
        conn: &mut BufferedConnection,
    ) -> Result<Option<T>, Error> {
        conn.before_reading(self.about).await?;
        conn.raw.optional(self).await
    }

    /// Reads all rows, and makes of each what `read` says.
    pub(crate) async fn read_as<T>(
        self,
        conn: &mut BufferedConnection,
        read: impl Fn(&Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.read::<Row>(conn).await?.iter().map(read).collect()
    }

    /// The same with the first row, if there is one.
    pub(crate) async fn read_optional_as<T>(
        self,
        conn: &mut BufferedConnection,
        read: impl Fn(&Row) -> Result<T>,
    ) -> Result<Option<T>> {
        self.read_optional::<Row>(conn).await?.as_ref().map(read).transpose()
    }

    /// Reads the row that there is.
    pub(crate) async fn read_one<T: FromRow>(self, conn: &mut BufferedConnection) -> Result<T, Error> {
        self.read_optional(conn).await?.ok_or(Error::RowNotFound)
    }

    /// Reads the rows as they come.
    pub(crate) async fn read_stream(
        self,
        conn: &mut BufferedConnection,
    ) -> Result<BoxStream<'_, Result<Row, Error>>, Error> {
        conn.before_reading(self.about).await?;
        conn.raw.stream(self)
    }

    /// Writes; returns how many rows it touched.
    pub(crate) async fn write(self, conn: &mut BufferedConnection) -> Result<u64, Error> {
        conn.before_writing().await?;
        conn.raw.execute(self).await
    }

    /// Writes any number of rows, which nobody counts.
    pub(crate) async fn run(self, conn: &mut BufferedConnection) -> Result<()> {
        self.write(conn).await?;
        Ok(())
    }

    /// Writes; returns whether it touched a row.
    pub(crate) async fn touches_any(self, conn: &mut BufferedConnection) -> Result<bool> {
        Ok(self.write(conn).await? > 0)
    }

    /// Writes rows of which the cache holds nothing, so that it stays.
    pub(crate) async fn write_beside_cache(self, conn: &mut BufferedConnection) -> Result<u64, Error> {
        conn.settle().await?;
        conn.writes_beside_cache();
        conn.raw.execute(self).await
    }

    /// The same for one row, a part of the record `what`; the error is that of [`write_one`](Self::write_one).
    pub(crate) async fn write_one_beside_cache(
        self,
        conn: &mut BufferedConnection,
        what: &str,
    ) -> Result<()> {
        let written = self.write_beside_cache(conn).await?;
        one_row(written == 1, what)
    }

    /// Writes one row, a part of the record `what`.
    ///
    /// # Errors
    /// If it touched none, the previous version is not the one that was read, or the row is another tenant's, and the
    /// transaction cannot continue.
    pub(crate) async fn write_one(self, conn: &mut BufferedConnection, what: &str) -> Result<()> {
        let written = self.write(conn).await?;
        one_row(written == 1, what)
    }

    /// The same for a statement that returns what it wrote, one column: an upsert of selected rows, of which Citus
    /// counts those too that it left as they were.
    pub(crate) async fn write_one_returned(self, conn: &mut BufferedConnection, what: &str) -> Result<()> {
        let written: Vec<String> = self.write_returning(conn).await?;
        one_row(written.len() == 1, what)
    }

    /// Writes; returns the rows that the statement returns.
    pub(crate) async fn write_returning<T: FromRow>(
        self,
        conn: &mut BufferedConnection,
    ) -> Result<Vec<T>, Error> {
        conn.before_writing().await?;
        conn.raw.all(self).await
    }
}

fn one_row(written: bool, what: &str) -> Result<()> {
    if written {
        return Ok(());
    }
    Err(StoreError::Broken(format!("the {what}: expected one row, found a version or tenant mismatch")))
}
