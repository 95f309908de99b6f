//! What a transaction has run, and what becomes of its jobs once it has ended.
//!
//! After the commit each is answered with its result, except those whose rows the database refused. A transaction that
//! was lost before its commit has written nothing: where others write, its jobs run again. In both cases a job is
//! repeated [`REPEATS_MAX`] times at most, and not later than [`REPEATED_WITHIN`]: what takes so long (a lock that
//! somebody holds, a server that does not answer) will take as long once more, while its caller waits.

use std::time::Duration;

use crate::error::StoreError;
use crate::hand_off::CommitEffects;
use crate::job::End;
use crate::queue::Counted;
use crate::sql::transaction::write_batch::Failed;

/// So often a job runs again. More than once, since a machine that was too busy to go on with a transaction in time is
/// still busy in the next one.
const REPEATS_MAX: u32 = 3;

/// So long after its first run a job is repeated. Less than the server waits for a lock (`lock_timeout`).
const REPEATED_WITHIN: Duration = Duration::from_millis(4_500);

/// The jobs of a transaction so far.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) ran: Vec<(Counted, CommitEffects)>,
    /// Jobs that run again in another transaction.
    pub(super) again: Vec<Counted>,
    /// The transaction is gone, and nothing of it is stored.
    pub(super) lost: bool,
}

/// What is left to do after a transaction.
#[derive(Default)]
pub(super) struct Ended {
    /// Jobs that run again, in their order.
    pub(super) again: Vec<Counted>,
    /// What the committed jobs did, to be published.
    pub(super) effects: CommitEffects,
    /// What the others are answered.
    pub(super) answers: Vec<(Counted, End)>,
}

impl Progress {
    /// The transaction has ended with this error.
    pub(super) fn lose(&mut self, error: &StoreError) {
        tracing::error!(error = %error, "the transaction is lost");
        self.lost = true;
    }

    /// Sorts the jobs. `committed` are those whose rows the database refused, `None` when nothing was committed;
    /// `several` says whether there are other writers.
    pub(super) fn end(self, committed: Option<Failed>, several: bool) -> Ended {
        let mut ended = match committed {
            Some(failed) => committed_but(self.ran, failed, several),
            None => uncommitted(self.ran, several && self.lost),
        };
        for job in self.again {
            if self.lost && ran_long(&job) {
                ended.answers.push((job, End::Lost));
            } else {
                ended.again.push(job);
            }
        }
        ended
    }
}

fn uncommitted(ran: Vec<(Counted, CommitEffects)>, run_again: bool) -> Ended {
    let mut ended = Ended::default();
    for (job, _) in ran {
        match repeated(job, run_again) {
            Ok(job) => ended.again.push(job),
            Err(job) => ended.answers.push((job, End::Lost)),
        }
    }
    ended
}

fn committed_but(ran: Vec<(Counted, CommitEffects)>, mut failed: Failed, several: bool) -> Ended {
    let mut ended = Ended::default();
    for (index, (job, effects)) in ran.into_iter().enumerate() {
        let Some(refused) = failed.iter().position(|(failed, _)| *failed == index) else {
            ended.effects.add(effects);
            ended.answers.push((job, End::Committed));
            continue;
        };
        // A transaction of another shard may have written the same key at the same time, as two requests of the
        // operator under one idempotency key do. The second run sees what that one wrote.
        match repeated(job, several) {
            Ok(job) => ended.again.push(job),
            Err(job) => ended.answers.push((job, End::Refused(failed.swap_remove(refused).1))),
        }
    }
    ended
}

/// The job, to be run again, if it can and was not too often.
fn repeated(mut job: Counted, run_again: bool) -> Result<Counted, Counted> {
    if run_again && job.repeats < REPEATS_MAX && job.job.may_repeat && !ran_long(&job) {
        job.repeats += 1;
        Ok(job)
    } else {
        Err(job)
    }
}

fn ran_long(job: &Counted) -> bool {
    job.first_run.is_some_and(|first| first.elapsed() > REPEATED_WITHIN)
}
