//! The store as use cases see it: jobs that write, jobs that read.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::try_join_all;
use tokio::sync::oneshot;

use crate::driver::Pool;
use crate::error::{Result, StoreError};
use crate::hand_off::{CommitListeners, DispatchHandle, DispatchRegistration};
use crate::job::{Job, JobError, JobFailure, Work, Worked, typed};
use crate::postgres::Distribution;
use crate::readers::{ReaderCount, Readers};
use crate::shards::{ShardSet, Turns};
use crate::sql::transaction::Tx;
use crate::sql::transaction::first_reads::Prefetch;
use crate::sqlite::ServerLock;
use crate::store_url::{Access, StoreUrl};
use crate::supervisor::Supervisor;
use crate::writer::Writer;
use crate::writing_connection::WritingConnection;
use crate::{postgres, sqlite};

/// How often [`Store::pass_every_turn`] asks for a turn: some 16 s, of which a holder may have 6 (contract 21-6).
const PASS_TRIES: usize = 3;

/// A database, opened and migrated. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    writer: Writer,
    record_readers: Readers,
    list_readers: Readers,
    listeners: CommitListeners,
    supervisor: Supervisor,
    /// Held as long as the store lives, where this process is the database's only server.
    lock: Option<Arc<ServerLock>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the database. A SQLite file is made when it is not there, and its schema brought up to date; the schema of
    /// a PostgreSQL database must be up to date already ([`Store::migrate`]).
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process serves the file; [`StoreError::UnknownSchema`] when a newer program
    /// wrote it; [`StoreError::OutdatedSchema`] when it has to be migrated first; [`StoreError::Unavailable`] when it
    /// cannot be opened or migrated.
    pub async fn open(url: &StoreUrl, access: Access) -> Result<Self> {
        let (listeners, supervisor) = (CommitListeners::default(), Supervisor::default());
        let (writing, record_readers, list_readers, lock): (Vec<Box<dyn WritingConnection>>, _, _, _) =
            match url {
                StoreUrl::Sqlite(path) => {
                    let opened = sqlite::open(path, access).await?;
                    let (records, lists) = (opened.record_readers, opened.list_readers);
                    let readers = |pool| Pool::Sqlite(pool, &sqlite::DIALECT);
                    (vec![Box::new(opened.writing)], readers(records), readers(lists), opened.lock)
                }
                StoreUrl::Postgres(url) => {
                    let opened = postgres::open(url).await?;
                    let readers = |pool| Pool::Postgres(pool, opened.dialect);
                    (opened.writing, readers(opened.record_readers), readers(opened.list_readers), None)
                }
            };
        Ok(Self {
            writer: Writer::start(writing, &listeners, &supervisor),
            record_readers: Readers(record_readers),
            list_readers: Readers(list_readers),
            listeners,
            supervisor,
            lock: lock.map(Arc::new),
        })
    }

    /// Brings the schema up to date, beside running services or without any.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn migrate(url: &StoreUrl) -> Result<()> {
        match url {
            StoreUrl::Sqlite(_) => Self::open(url, Access::Shared).await?.close().await,
            StoreUrl::Postgres(url) => postgres::migrate(url).await?,
        }
        Ok(())
    }

    /// Brings the schema up to date and distributes the tables over the servers of a Citus cluster, as far as they are
    /// not distributed yet.
    ///
    /// # Errors
    /// [`StoreError::NotDistributable`] where there is no Citus; otherwise as [`Store::open`].
    pub async fn distribute(url: &StoreUrl) -> Result<Distribution> {
        match url {
            StoreUrl::Sqlite(_) => Err(StoreError::NotDistributable(
                "a SQLite file is not distributed: that takes PostgreSQL with the extension Citus",
            )),
            StoreUrl::Postgres(url) => postgres::distribute(url).await,
        }
    }

    /// Whether this process is the only one that serves the database. On PostgreSQL there may be others.
    #[must_use]
    pub fn is_only_server(&self) -> bool {
        self.lock.is_some()
    }

    /// At the start of a service: takes back the leases of the process before it, and returns how many. This happens
    /// only where this process is the database's only user. Elsewhere the leases belong to other instances, or run
    /// out by themselves.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the database cannot be written.
    pub async fn take_back_leases(&self) -> Result<u64> {
        if !self.is_only_server() {
            return Ok(0);
        }
        self.write(|tx: &mut Tx| Box::pin(async move { tx.delivery_lease_release_all().await })).await
    }

    /// Runs `work` in a transaction that may be shared with other jobs but fails or succeeds alone, and returns after
    /// the commit. Dropping the returned future does not stop the work. The transaction holds every turn, so nobody
    /// else writes meanwhile. For where one process writes at all; elsewhere it would wait for the slowest shard.
    ///
    /// # Errors
    /// Whatever `work` returned (its writes are undone), or a [`StoreError`] turned into `E` when the database failed.
    pub async fn write<T: Send + 'static, E: JobError>(&self, work: impl Work<T, E>) -> Result<T, E> {
        typed(self.submit(Job::once(work, self.listeners.dispatch.get())).await)
    }

    /// The same with the turns that are named, and with others when it turns out to need them: then it runs once more.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn write_with<T: Send + 'static, E: JobError>(
        &self,
        turns: Turns,
        work: impl Work<T, E> + Clone,
    ) -> Result<T, E> {
        typed(self.submit(Job::repeatable(work, turns, None, self.listeners.dispatch.get())).await)
    }

    /// The same for work whose first reads are known beforehand. It gets the turn of the merchant that it is about, or
    /// the operator's when it names none.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn write_ahead<T: Send + 'static, E: JobError>(
        &self,
        ahead: Prefetch,
        work: impl Work<T, E> + Clone,
    ) -> Result<T, E> {
        let turns = ahead.tenant.as_ref().map_or(Turns::OPERATOR, |tenant| Turns::of(&tenant.merchant_id));
        typed(self.submit(Job::repeatable(work, turns, Some(ahead), self.listeners.dispatch.get())).await)
    }

    /// Whether several transactions may write at a time, each with the turns that it holds.
    #[must_use]
    pub fn has_turns(&self) -> bool {
        matches!(self.record_readers.0, Pool::Postgres(..))
    }

    /// Returns when every transaction has ended that had a turn before the call: those that have one afterwards see
    /// what was committed before it. For what transactions of every shard read without its turn. It has each turn only
    /// for a moment and none while it waits for another, so it is the caller alone who waits for the slowest shard:
    /// longer than anyone may hold its turn (contract 21-6).
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when a turn was not to be had in three tries.
    pub async fn pass_every_turn(&self) -> Result<()> {
        if !self.has_turns() {
            return Ok(());
        }
        try_join_all(ShardSet::ALL.apart().map(|shard| self.pass_turn(shard))).await.map(drop)
    }

    async fn pass_turn(&self, shard: ShardSet) -> Result<()> {
        let mut tries = 1;
        loop {
            let passed = self
                .write_with(Turns::each(shard), |_: &mut Tx| Box::pin(async { Ok::<_, StoreError>(()) }))
                .await;
            if passed.is_ok() || tries == PASS_TRIES {
                return passed;
            }
            tries += 1;
        }
    }

    async fn submit(&self, (job, answer): (Job, oneshot::Receiver<Worked>)) -> Worked {
        self.writer.queue.submit(job).await.map_err(JobFailure::OfStore)?;
        answer.await.unwrap_or_else(|_| Err(JobFailure::OfStore(StoreError::Closed)))
    }

    /// Runs `work`, which reads single committed records.
    ///
    /// # Errors
    /// Whatever `work` returned, or a [`StoreError`] turned into `E` when no reader could be had.
    pub async fn read<T: Send + 'static, E: JobError>(&self, work: impl Work<T, E>) -> Result<T, E> {
        self.record_readers.read(work).await
    }

    /// Runs `work`, which may have to read a lot: a list. Lists wait for one another and for nothing else.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn read_list<T: Send + 'static, E: JobError>(&self, work: impl Work<T, E>) -> Result<T, E> {
        self.list_readers.read(work).await
    }

    /// Registers the handle of this instance's dispatcher, in place of an earlier one. From now on jobs lease
    /// deliveries to it and hand them off after their commits. Dropping the returned value closes the handle.
    #[must_use]
    pub fn register_dispatch(&self, dispatch: Arc<DispatchHandle>) -> DispatchRegistration {
        self.listeners.dispatch.register(dispatch)
    }

    /// Knows whether a worker of the writer has panicked, after which writes may wait for ever.
    #[must_use]
    pub fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    /// Events that were committed through this store since it was opened.
    #[must_use]
    pub fn events_committed(&self) -> u64 {
        self.listeners.events.load(Ordering::Relaxed)
    }

    /// The number of writes that are not answered yet: queued ones and those of the open transaction. 0 means that
    /// the writer is idle.
    #[must_use]
    pub fn writes_unanswered(&self) -> usize {
        self.writer.queue.unanswered()
    }

    /// Whether the store takes no more writes, because it is being closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.writer.queue.is_closed()
    }

    /// The connections that read, for monitoring.
    #[must_use]
    pub fn readers(&self) -> [ReaderCount; 2] {
        [self.record_readers.count("records"), self.list_readers.count("lists")]
    }

    /// Finishes the jobs already submitted and closes the database. Later jobs are refused.
    pub async fn close(&self) {
        // The writer last: the last connection to go is the one that checkpoints and truncates the log.
        self.record_readers.0.close().await;
        self.list_readers.0.close().await;
        self.writer.close().await;
    }
}
