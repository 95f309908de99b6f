//! The store as use cases see it: jobs that write, jobs that read.

use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqlx::SqlitePool;
use tokio::sync::Notify;

use crate::StoreError;
use crate::ports::Tx;
use crate::sqlite;
use crate::writer::{JobError, TypedJob, Writer, closed};

/// Where the database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreUrl {
    /// A file of this machine.
    Sqlite(PathBuf),
}

impl StoreUrl {
    /// Reads `sqlite://path`, relative or absolute. `None` for any other form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let path = text.strip_prefix("sqlite://")?;
        (!path.is_empty() && !path.contains('?')).then(|| Self::Sqlite(PathBuf::from(path)))
    }
}

/// Who else may have the database open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// This process serves it: a second one is refused ([`StoreError::Locked`]).
    Exclusive,
    /// A command beside a running service.
    Shared,
}

/// A database, opened and migrated. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    writer: Writer,
    record_readers: SqlitePool,
    list_readers: SqlitePool,
    committed: Arc<Notify>,
    _lock: Option<Arc<File>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the database and brings its schema up to date.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process serves the file; [`StoreError::UnknownSchema`] when a newer program
    /// wrote it; [`StoreError::Unavailable`] when it cannot be opened or migrated.
    pub async fn open(url: &StoreUrl, access: Access) -> Result<Self, StoreError> {
        let StoreUrl::Sqlite(path) = url;
        let opened = sqlite::open(path, access).await?;
        let committed = Arc::new(Notify::new());
        Ok(Self {
            writer: Writer::start(Box::new(opened.writing), Arc::clone(&committed)),
            record_readers: opened.record_readers,
            list_readers: opened.list_readers,
            committed,
            _lock: opened.lock.map(Arc::new),
        })
    }

    /// Runs `work` in a transaction that may be shared with other jobs but fails or succeeds alone, and returns after
    /// the commit. Dropping the returned future does not stop the work.
    ///
    /// # Errors
    /// Whatever `work` returned (its writes are undone), or a [`StoreError`] turned into `E` when the database failed.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: for<'t> FnOnce(&'t mut dyn Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
        T: Send + 'static,
        E: JobError,
    {
        let (job, answer) = TypedJob::new(work);
        self.writer.submit(Box::new(job)).await?;
        answer.await.unwrap_or_else(|_| Err(closed().into()))
    }

    /// Runs `work`, which reads single committed records.
    ///
    /// # Errors
    /// Whatever `work` returned, or a [`StoreError`] turned into `E` when no reader could be had.
    pub async fn read<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: for<'t> FnOnce(&'t mut dyn Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
        T: Send + 'static,
        E: JobError,
    {
        read(self.record_readers.clone(), work).await
    }

    /// Runs `work`, which may have to look far: a list. Lists wait for one another and for nobody else.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn read_list<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: for<'t> FnOnce(&'t mut dyn Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
        T: Send + 'static,
        E: JobError,
    {
        read(self.list_readers.clone(), work).await
    }

    /// Is notified after a commit that made deliveries: a hint only, the poll is the truth (T5).
    #[must_use]
    pub fn deliveries_committed(&self) -> Arc<Notify> {
        Arc::clone(&self.committed)
    }

    /// Finishes the jobs already submitted and closes the database. Later jobs are refused.
    pub async fn close(&self) {
        // The writer last: the last connection to go is the one that checkpoints and truncates the log.
        self.record_readers.close().await;
        self.list_readers.close().await;
        self.writer.close().await;
    }
}

/// In a task of its own: whoever asked may hang up, and the connection still goes back whole (T10).
async fn read<T, E, F>(readers: SqlitePool, work: F) -> Result<T, E>
where
    F: for<'t> FnOnce(&'t mut dyn Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    T: Send + 'static,
    E: JobError,
{
    let reading = tokio::spawn(async move {
        let mut conn = readers.acquire().await.map_err(StoreError::from)?;
        work(&mut sqlite::Session { conn: &mut conn, deliveries_made: false }).await
    });
    reading.await.unwrap_or_else(|_| Err(StoreError::Broken("a reading job panicked".to_owned()).into()))
}
