//! Runs steps in lanes: one after the other within a lane, all lanes side by side.
//!
//! A step can also wait for one of another lane. Once a step has failed, none begins any more: the ones under way
//! end, and whoever waits is told what failed without the rest.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Result;

use crate::checks::timed;

/// One step.
pub(crate) struct Job<'a> {
    pub(crate) name: &'static str,
    /// The step of another lane that must have ended before.
    pub(crate) after: Option<&'static str>,
    pub(crate) run: Box<dyn FnOnce() -> Result<()> + Send + 'a>,
}

/// A step that has run.
pub(crate) struct Ended {
    pub(crate) name: &'static str,
    pub(crate) duration: Duration,
    pub(crate) result: Result<()>,
}

/// What has ended so far.
#[derive(Default)]
struct Progress {
    ended: Mutex<Vec<Ended>>,
    changed: Condvar,
}

impl Progress {
    fn ended(&self) -> MutexGuard<'_, Vec<Ended>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, ended: Ended) {
        self.ended().push(ended);
        self.changed.notify_all();
    }

    /// Waits for the step named; whether nothing has failed by then.
    fn allows(&self, after: Option<&str>) -> bool {
        let all_passed = |ended: &[Ended]| ended.iter().all(|step| step.result.is_ok());
        let has_ended = |ended: &[Ended]| after.is_none_or(|name| ended.iter().any(|step| step.name == name));
        let must_wait = |ended: &mut Vec<Ended>| all_passed(ended) && !has_ended(ended);
        let ended = self.changed.wait_while(self.ended(), must_wait).unwrap_or_else(PoisonError::into_inner);
        all_passed(&ended)
    }
}

/// Runs all of them and returns those that have run, in the order in which they ended.
pub(crate) fn run(lanes: Vec<Vec<Job<'_>>>) -> Vec<Ended> {
    let progress = Progress::default();
    thread::scope(|scope| {
        for lane in lanes {
            scope.spawn(|| {
                for job in lane {
                    if !progress.allows(job.after) {
                        break;
                    }
                    let (result, duration) = timed(job.run);
                    progress.add(Ended { name: job.name, duration, result });
                }
            });
        }
    });
    progress.ended.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use anyhow::bail;

    use super::*;

    fn job<'a>(
        name: &'static str,
        after: Option<&'static str>,
        run: impl FnOnce() -> Result<()> + Send + 'a,
    ) -> Job<'a> {
        Job { name, after, run: Box::new(run) }
    }

    fn names(ended: &[Ended]) -> Vec<&'static str> {
        ended.iter().map(|step| step.name).collect()
    }

    #[test]
    fn lanes_run_side_by_side_and_a_step_waits_for_the_one_it_needs() {
        let (said, heard) = mpsc::channel();
        // The first lane could not end before the second has begun.
        let first = vec![job("a", None, move || Ok(heard.recv()?)), job("b", Some("d"), || Ok(()))];
        let second = vec![job("c", None, move || Ok(said.send(())?)), job("d", Some("a"), || Ok(()))];
        let ended = run(vec![first, second]);
        assert!(ended.iter().all(|step| step.result.is_ok()));
        assert_eq!(names(&ended)[2..], ["d", "b"]);
    }

    #[test]
    fn after_a_failure_nothing_begins_and_nobody_waits_for_ever() {
        let failing = vec![job("a", None, || bail!("broken")), job("b", None, || Ok(()))];
        let waiting = vec![job("c", Some("b"), || Ok(()))];
        let ended = run(vec![failing, waiting]);
        assert_eq!(names(&ended), ["a"]);
        assert_eq!(ended[0].result.as_ref().unwrap_err().to_string(), "broken");
    }
}
