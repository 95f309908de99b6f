//! Connections that only read: a pool for single records and one for lists, so that neither waits for the other.

use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::timeout;

use crate::driver::Pool;
use crate::error::StoreError;
use crate::job::{JobError, JobFailure, Work, Worked, erased, typed};
use crate::sql::transaction::Tx;

/// How long a read may take, so that a server that has fallen silent costs a request and no connection.
const READ_WAIT: Duration = Duration::from_secs(15);

/// Work that reads, without its types.
type Reading = Box<dyn for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Worked> + Send>;

/// Connections that read, all with the same kind of work.
#[derive(Clone)]
pub(crate) struct Readers(pub(crate) Pool);

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
        let (open, idle, limit) = self.0.counts();
        let idle = i64::try_from(idle).unwrap_or(i64::MAX).min(open.into());
        ReaderCount { name, open: open.into(), idle, limit: limit.into() }
    }

    /// Reads in a task of its own: the caller may hang up, and the connection still returns to its pool intact (T10).
    pub(crate) async fn read<T: Send + 'static, E: JobError>(&self, work: impl Work<T, E>) -> Result<T, E> {
        typed(self.run(Box::new(move |tx| Box::pin(erased(work(tx))))).await)
    }

    async fn run(&self, work: Reading) -> Worked {
        let pool = self.0.clone();
        let reading = tokio::spawn(async move {
            let conn = pool.acquire().await.map_err(|error| JobFailure::OfStore(error.into()))?;
            let mut tx = Tx::from(conn);
            if let Ok(worked) = timeout(READ_WAIT, work(&mut tx)).await {
                tx.conn.raw.give_back();
                return worked;
            }
            tx.conn.raw.give_up();
            Err(JobFailure::OfStore(StoreError::Unavailable("a read was not answered in time".to_owned())))
        });
        let panicked = || JobFailure::OfStore(StoreError::Broken("a reading job panicked".to_owned()));
        reading.await.unwrap_or_else(|_| Err(panicked()))
    }
}
