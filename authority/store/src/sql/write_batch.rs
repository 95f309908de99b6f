//! A transaction that writes: the jobs that share it, what of theirs waits, and the savepoint that keeps them apart.
//!
//! The savepoint stands behind everything of other jobs that was sent. It is set anew when a job is about to send
//! something and others' writes were sent since: so whatever a job sends can be undone alone, and a job whose rows all
//! wait costs no savepoint at all; undoing it is forgetting them.
//!
//! The waiting rows of jobs that have ended are sent together. When the database has something to say against them, they
//! are undone and sent again, job by job, each behind its savepoint and in their order: the guilty one is told so at the
//! commit, and with it those that built on it, whose conditional writes now touch nothing. Nobody else is harmed.

use sqlx::Error;

use super::batch;
use super::rows::{Row, Touches, steps};
use super::write_buffer::Connection;
use crate::StoreError;
use crate::writer::Ran;

/// From one job to the next. On PostgreSQL the release fails in a transaction that an error has ended.
const NEXT: &str = "RELEASE SAVEPOINT job; SAVEPOINT job";
const UNDO: &str = "ROLLBACK TO SAVEPOINT job";

/// Rows that may wait when a job has ended; beyond it they are sent.
const WAITING_MAX: usize = 4096;

/// The state of the transaction. It begins behind a savepoint called `job`.
#[derive(Default)]
pub(crate) struct WriteBatch {
    /// The running job, by its place in the transaction.
    job: usize,
    /// How many of the waiting rows are those of jobs that have ended.
    ended: usize,
    /// Since the savepoint, writes of jobs that have ended were sent.
    kept: bool,
    /// The running job has sent something.
    asked: bool,
    /// It may have changed something.
    wrote: bool,
    /// The transaction cannot be committed.
    lost: bool,
    failed: Vec<(usize, StoreError)>,
}

impl WriteBatch {
    pub(super) fn job(&self) -> usize {
        self.job
    }
}

impl Connection {
    /// A transaction has begun, with a savepoint `job`.
    pub(crate) fn begun(&mut self) {
        self.ended();
        self.turn = Some(WriteBatch::default());
    }

    /// The transaction is over.
    pub(crate) fn ended(&mut self) {
        self.waiting.truncate(0);
        self.remembered.clear();
        self.turn = None;
    }

    /// Begins the `job`-th job of the transaction.
    pub(crate) fn begin_job(&mut self, job: usize) {
        let ended = self.waiting.rows.len();
        if let Some(turn) = &mut self.turn {
            *turn = WriteBatch {
                job,
                ended,
                asked: false,
                wrote: false,
                failed: std::mem::take(&mut turn.failed),
                ..*turn
            };
        }
    }

    /// Ends a look at what jobs will ask for. When the database says no to it, a job's own question shows whose it is.
    pub(crate) async fn end_look(&mut self, seen: Result<(), StoreError>) -> Result<(), Error> {
        if let Err(error) = seen {
            tracing::warn!(error = %error, "what waiting jobs will ask for could not be read at once");
            self.undo().await?;
        }
        Ok(())
    }

    /// Ends the running job: keeps its writes, or undoes them.
    pub(crate) async fn end_job(&mut self, ran: Ran) -> Result<Ran, StoreError> {
        let ran = match ran {
            Ran::Keep => self.keep().await?,
            Ran::Undo => {
                self.undo().await?;
                Ran::Undo
            }
            Ran::Abort => Ran::Abort,
        };
        let lost = self.turn.as_ref().is_none_or(|turn| turn.lost);
        Ok(if lost { Ran::Abort } else { ran })
    }

    /// A job of which something was sent is sent whole, while it can still be undone whole.
    async fn keep(&mut self) -> Result<Ran, StoreError> {
        if self.turn.as_ref().is_some_and(|turn| turn.wrote)
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
        if let Some(turn) = &mut self.turn {
            turn.kept |= turn.wrote;
        }
        self.remembered.keep();
        if self.waiting.rows.len() > WAITING_MAX {
            self.send_ended().await?;
        }
        Ok(Ran::Keep)
    }

    async fn undo(&mut self) -> Result<(), Error> {
        let Some(turn) = &self.turn else { return Ok(()) };
        let (ended, asked, wrote) = (turn.ended, turn.asked, turn.wrote);
        self.waiting.truncate(ended);
        self.remembered.undo();
        if wrote {
            self.remembered.clear();
        }
        if asked {
            batch::control(self.raw(), UNDO).await?;
        }
        Ok(())
    }

    /// The running job ends with this error, whatever it answered.
    fn fail(&mut self, error: StoreError) {
        if let Some(turn) = &mut self.turn {
            let job = turn.job;
            turn.failed.push((job, error));
        }
    }

    /// Sends what still waits, before the commit. Tells which jobs failed by it: nothing of them is in the transaction.
    pub(crate) async fn finish(&mut self) -> Result<Vec<(usize, StoreError)>, StoreError> {
        self.send_ended().await?;
        Ok(self.turn.as_mut().map(|turn| std::mem::take(&mut turn.failed)).unwrap_or_default())
    }

    /// The running job may change anything with the statement that follows.
    pub(super) fn writes(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.wrote = true;
            self.remembered.clear();
        }
    }

    /// Whatever the running job sends now can be undone alone.
    pub(super) async fn ready(&mut self) -> Result<(), Error> {
        if self.turn.as_ref().is_some_and(|turn| turn.kept) {
            batch::control(self.raw(), NEXT).await?;
        }
        if let Some(turn) = &mut self.turn {
            turn.kept = false;
            turn.asked = true;
        }
        Ok(())
    }

    /// Sends all that waits, the running job's writes behind the savepoint.
    pub(super) async fn settle(&mut self) -> Result<(), Error> {
        let Some(ended) = self.turn.as_ref().map(|turn| turn.ended) else { return Ok(()) };
        if ended > 0 {
            self.send(ended).await?;
        }
        self.ready().await?;
        let own = self.waiting.take(usize::MAX);
        if !own.is_empty() {
            if let Some(turn) = &mut self.turn {
                turn.wrote = true;
            }
            self.send_rows(&own).await?;
        }
        Ok(())
    }

    async fn send_ended(&mut self) -> Result<(), StoreError> {
        let count = self.waiting.rows.len();
        if self.turn.is_some() && count > 0 {
            self.send(count).await?;
        }
        Ok(())
    }

    /// Sends the first `count` waiting rows, of jobs that have ended.
    async fn send(&mut self, count: usize) -> Result<(), Error> {
        let rows = self.waiting.take(count);
        if self.turn.as_ref().is_some_and(|turn| turn.kept) {
            batch::control(self.raw(), NEXT).await?;
        }
        let mut sent = self.send_rows(&rows).await;
        if let Err(error) = sent {
            tracing::warn!(error = %error, "rows of several jobs were refused together; they are sent job by job");
            sent = self.send_each(rows, error).await;
        }
        if let Some(turn) = &mut self.turn {
            turn.ended = 0;
            turn.kept = true;
            turn.lost |= sent.is_err();
        }
        sent
    }

    /// Sends refused rows again, those of one job at a time.
    async fn send_each(&mut self, rows: Vec<Row>, refused: Error) -> Result<(), Error> {
        self.remembered.clear();
        batch::control(self.raw(), UNDO).await?;
        let mut refused = Some(refused);
        for job in rows.chunk_by(|a, b| a.job == b.job) {
            let alone = job.len() == rows.len();
            let sent = match refused.take_if(|_| alone) {
                Some(refused) => Err(refused),
                None => self.send_rows(job).await,
            };
            let Err(error) = sent else {
                batch::control(self.raw(), NEXT).await?;
                continue;
            };
            let mut error = StoreError::from(error);
            if error.ends_transaction() {
                return Err(Error::Protocol(error.to_string()));
            }
            batch::control(self.raw(), UNDO).await?;
            if let (Some(turn), Some(row)) = (&mut self.turn, job.first()) {
                if matches!(error, StoreError::Broken(_)) && !turn.failed.is_empty() {
                    let story = "it went on from a request of the same transaction that failed";
                    error = StoreError::Unavailable(story.to_owned());
                }
                turn.failed.push((row.job, error));
            }
        }
        Ok(())
    }

    /// Sends rows, each table's as one statement.
    async fn send_rows(&mut self, rows: &[Row]) -> Result<(), Error> {
        for step in steps(rows) {
            let wanted: Vec<_> = step.iter().map(|group| (group.table.touches, group.lines.len())).collect();
            let touched = batch::send(self.raw(), step).await?;
            for ((touches, rows), touched) in wanted.into_iter().zip(touched) {
                if let Touches::Each(what) = touches
                    && u64::try_from(rows) != Ok(touched)
                {
                    let story = format!("the {what} was written by nobody or by others");
                    return Err(Error::Decode(story.into()));
                }
            }
        }
        Ok(())
    }
}
