//! A transaction that writes: the jobs that share it, their buffered rows, and the savepoint that keeps the jobs
//! apart.
//!
//! The savepoint comes after everything that was sent for other jobs. It is set again when a job is about to send
//! something and writes of other jobs were sent since. So whatever a job sends can be undone alone. A job whose rows
//! are all still buffered costs no savepoint: to undo it is to drop its rows.
//!
//! The buffered rows of jobs that have ended are sent together. If the database refuses them, they are undone and
//! sent again job by job, in order, each behind its own savepoint. The job at fault gets the error at the commit. So
//! do the jobs that built on its writes, because their conditional writes now touch nothing. No other job is
//! affected.

use crate::driver::Error;
use crate::error::{Result, StoreError};
use crate::shards::ShardSet;
use crate::sql::transaction::rows::{BufferedRow, Touches, steps};
use crate::sql::transaction::write_buffer::{BufferedConnection, WriteBatch};

/// Moves the savepoint from one job to the next. On PostgreSQL the release fails in a transaction that an error has
/// ended.
const NEXT: &str = "RELEASE SAVEPOINT job; SAVEPOINT job";
const UNDO: &str = "ROLLBACK TO SAVEPOINT job";

/// Rows that may stay buffered when a job has ended; beyond this number they are sent.
const WAITING_MAX: usize = 4096;

/// What the writer does after a job ran.
pub(crate) enum Ran {
    /// It succeeded; its writes stay.
    Keep,
    /// It refused; its writes are undone, the others' stay.
    Undo,
    /// The database failed during it; the whole transaction is undone.
    Abort,
    /// It needs these turns as well: it is undone, and runs again in a transaction that holds them.
    Again(ShardSet),
}

/// The jobs, by their index in the transaction, whose writes the database refused after they had ended.
pub(crate) type Failed = Vec<(usize, StoreError)>;

impl BufferedConnection {
    /// A transaction has begun, with these turns and a savepoint `job`.
    pub(crate) fn begun(&mut self, held: ShardSet) {
        self.ended();
        self.batch = Some(WriteBatch { held, ..WriteBatch::default() });
    }

    /// The transaction has taken more turns; nothing was sent since it has begun.
    pub(crate) fn holds_also(&mut self, also: ShardSet) {
        if let Some(batch) = &mut self.batch {
            batch.held = batch.held.or(also);
        }
    }

    /// Whether a transaction is open. Outside of one, what a job buffers would be lost.
    pub(crate) fn is_writing(&self) -> bool {
        self.batch.is_some()
    }

    /// The turns that the transaction holds; all of them where nothing is written.
    pub(crate) fn held(&self) -> ShardSet {
        self.batch.as_ref().map_or(ShardSet::ALL, |batch| batch.held)
    }

    /// The shards in which a statement looks that knows only ids: those whose turns the transaction holds, where it
    /// holds some.
    pub(crate) fn shards(&self) -> ShardSet {
        let all = self.dialect().shards;
        match self.held() {
            ShardSet::NONE => all,
            held => held.and(all),
        }
    }

    /// The transaction is over.
    pub(crate) fn ended(&mut self) {
        self.buffered.truncate(0);
        self.cache.clear();
        self.batch = None;
    }

    /// Begins the job with index `job` in the transaction.
    pub(crate) fn begin_job(&mut self, job: usize) {
        let ended = self.buffered.rows.len();
        if let Some(batch) = &mut self.batch {
            *batch = WriteBatch {
                job,
                ended,
                asked: false,
                wrote: false,
                failed: std::mem::take(&mut batch.failed),
                ..*batch
            };
        }
    }

    /// Ends a prefetch. After an error the jobs run their own queries, which show whose fault it is.
    pub(crate) async fn end_look(&mut self, seen: Result<()>) -> Result<(), Error> {
        if let Err(error) = seen {
            tracing::warn!(error = %error, "what waiting jobs will ask for could not be read at once");
            self.undo().await?;
        }
        Ok(())
    }

    /// Ends the running job: keeps its writes, or undoes them.
    pub(crate) async fn end_job(&mut self, ran: Ran) -> Result<Ran> {
        let ran = match ran {
            Ran::Keep => self.keep().await?,
            ran @ (Ran::Undo | Ran::Again(_)) => {
                self.undo().await?;
                ran
            }
            Ran::Abort => Ran::Abort,
        };
        let lost = self.batch.as_ref().is_none_or(|batch| batch.lost);
        Ok(if lost { Ran::Abort } else { ran })
    }

    /// Keeps a job. If one of its writes was sent, sends the rest too, while the whole job can still be undone.
    async fn keep(&mut self) -> Result<Ran> {
        if self.batch.as_ref().is_some_and(|batch| batch.wrote)
            && let Err(error) = self.settle().await
        {
            let error = StoreError::from(error);
            if error.ends_transaction() {
                return Ok(Ran::Abort);
            }
            self.undo().await?;
            self.fail(error);
            return Ok(Ran::Undo);
        }
        if let Some(batch) = &mut self.batch {
            batch.kept |= batch.wrote;
        }
        self.cache.keep();
        if self.buffered.rows.len() > WAITING_MAX {
            self.send_ended().await?;
        }
        Ok(Ran::Keep)
    }

    async fn undo(&mut self) -> Result<(), Error> {
        let Some(&WriteBatch { ended, asked, wrote, .. }) = self.batch.as_ref() else { return Ok(()) };
        self.buffered.truncate(ended);
        self.cache.undo();
        if wrote {
            self.cache.clear();
        }
        if asked {
            self.raw.control(UNDO).await?;
        }
        Ok(())
    }

    /// Records that the running job ends with this error, whatever its result was.
    fn fail(&mut self, error: StoreError) {
        if let Some(batch) = &mut self.batch {
            let job = batch.job;
            batch.failed.push((job, error));
        }
    }

    /// Sends what is still buffered, before the commit. Returns the jobs that failed by it; none of their writes are
    /// in the transaction.
    pub(crate) async fn finish(&mut self) -> Result<Failed> {
        self.send_ended().await?;
        Ok(self.batch.as_mut().map(|batch| std::mem::take(&mut batch.failed)).unwrap_or_default())
    }

    /// Notes that the next statement of the running job may change anything.
    pub(crate) fn writes(&mut self) {
        self.writes_beside_cache();
        self.cache.clear();
    }

    /// Notes that the next statement of the running job changes nothing that is cached.
    pub(super) fn writes_beside_cache(&mut self) {
        if let Some(batch) = &mut self.batch {
            batch.wrote = true;
        }
    }

    /// Sets the savepoint where necessary, so that whatever the running job sends now can be undone alone.
    pub(super) async fn ready(&mut self) -> Result<(), Error> {
        if self.batch.as_ref().is_some_and(|batch| batch.kept) {
            self.raw.control(NEXT).await?;
        }
        if let Some(batch) = &mut self.batch {
            batch.kept = false;
            batch.asked = true;
        }
        Ok(())
    }

    /// Sends all buffered rows, those of the running job behind the savepoint.
    pub(crate) async fn settle(&mut self) -> Result<(), Error> {
        let Some(ended) = self.batch.as_ref().map(|batch| batch.ended) else { return Ok(()) };
        if ended > 0 {
            self.send(ended).await?;
        }
        self.ready().await?;
        let own = self.buffered.take(usize::MAX);
        if !own.is_empty() {
            if let Some(batch) = &mut self.batch {
                batch.wrote = true;
            }
            self.send_rows(&own).await?;
        }
        Ok(())
    }

    async fn send_ended(&mut self) -> Result<()> {
        let count = self.buffered.rows.len();
        if self.batch.is_some() && count > 0 {
            self.send(count).await?;
        }
        Ok(())
    }

    /// Sends the first `count` buffered rows, which belong to jobs that have ended.
    async fn send(&mut self, count: usize) -> Result<(), Error> {
        let rows = self.buffered.take(count);
        if self.batch.as_ref().is_some_and(|batch| batch.kept) {
            self.raw.control(NEXT).await?;
        }
        let mut sent = self.send_rows(&rows).await;
        if let Err(error) = sent {
            tracing::warn!(error = %error, "rows of several jobs were refused together; they are sent job by job");
            sent = self.send_each(rows, error).await;
        }
        if let Some(batch) = &mut self.batch {
            batch.ended = 0;
            batch.kept = true;
            batch.lost |= sent.is_err();
        }
        sent
    }

    /// Sends refused rows again, one job at a time.
    async fn send_each(&mut self, rows: Vec<BufferedRow>, refused: Error) -> Result<(), Error> {
        self.cache.clear();
        self.raw.control(UNDO).await?;
        let mut refused = Some(refused);
        for job in rows.chunk_by(|a, b| a.job == b.job) {
            let alone = job.len() == rows.len();
            let sent = match refused.take_if(|_| alone) {
                Some(refused) => Err(refused),
                None => self.send_rows(job).await,
            };
            let Err(error) = sent else {
                self.raw.control(NEXT).await?;
                continue;
            };
            let mut error = StoreError::from(error);
            if error.ends_transaction() {
                return Err(Error::Protocol(error.to_string()));
            }
            self.raw.control(UNDO).await?;
            if let (Some(batch), Some(row)) = (&mut self.batch, job.first()) {
                if matches!(error, StoreError::Broken(_)) && !batch.failed.is_empty() {
                    let story = "it went on from a request of the same transaction that failed";
                    error = StoreError::Unavailable(story.to_owned());
                }
                batch.failed.push((row.job, error));
            }
        }
        Ok(())
    }

    /// Sends rows, one statement per table.
    async fn send_rows(&mut self, rows: &[BufferedRow]) -> Result<(), Error> {
        for step in steps(rows) {
            let wanted: Vec<_> = step.iter().map(|group| (group.table.touches, group.lines.len())).collect();
            let touched = self.raw.send(step).await?;
            for ((touches, rows), touched) in wanted.into_iter().zip(touched) {
                if let Touches::Each(what) = touches
                    && u64::try_from(rows) != Ok(touched)
                {
                    let story = format!("the {what}: expected one row, found a version or tenant mismatch");
                    return Err(Error::Decode(story.into()));
                }
            }
        }
        Ok(())
    }
}
