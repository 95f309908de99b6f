//! What an inbox does when its alarm rings: recorded events go to their sink until it has taken them.
//!
//! 1. Attempts that an earlier life of the object began and did not end count as failed.
//! 2. While there is anything due and a slot is free, an attempt is begun: the record is `processing`, its attempt is
//!    counted, and only then the sink is spoken to. One slot is kept for events that failed before, and fresh ones go
//!    first in all others. Events that failed have few slots in all, so neither kind waits for the other.
//! 3. Each attempt that ends frees its slot and settles its record: `processed`, or `error` with the reason and the
//!    time of the next attempt. An event that is never taken costs the others nothing but its slot for the length of
//!    its deadline.
//! 4. Records that are too old are removed, some at a time.
//! 5. The alarm is set for what comes next.
//!
//! The runtime rings an object's alarm once at a time, and again after a crash. So whatever is `processing` when the
//! alarm begins is nobody's, and no lease is needed. An attempt that was cut off may have reached the sink: it is made
//! again, after its wait, because the other choice would be to lose the event.
//!
//! Order between events is not promised, not even of one resource: who needs it has `resource_version` in the event.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use futures_util::future::{Either, select, select_all};
use verify_core::receiver::Status;
use worker::{Delay, Result, console_error, console_warn};

use super::object::EventInbox;
use super::schedule::{DEADLINE_MS, Left, SLOTS, choices, may_begin, next_alarm_ms, wait_ms};
use super::table::{Ageing, Begun};
use crate::sink::{Failure, Sink};
use crate::{clock, configuration, settings};

/// How long to leave a storage alone that failed, or a sink whose configuration cannot be used, milliseconds.
pub(super) const PAUSE_AFTER_ERROR_MS: i64 = 60_000;

/// How often a running alarm looks for what has come in since, while it has slots to spare.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// An attempt under way.
struct Attempt<'s> {
    begun: Begun,
    is_retry: bool,
    outcome: Pin<Box<dyn Future<Output = core::result::Result<(), Failure>> + 's>>,
}

impl Future for Attempt<'_> {
    type Output = core::result::Result<(), Failure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> std::task::Poll<Self::Output> {
        self.outcome.as_mut().poll(context)
    }
}

impl EventInbox {
    /// Does everything that is due and says when to ring again, Unix milliseconds; `None` when there is nothing left.
    pub(super) async fn hand_off(&self) -> Result<Option<i64>> {
        for begun in self.table.under_way()? {
            self.settle(&begun, Err(Failure::CutOff))?;
        }
        let sink = match Sink::bound(&self.env) {
            Ok(sink) => sink,
            Err(configuration::InvalidVariable(name)) => {
                console_error!("events wait for their sink: the value of {name} cannot be used");
                return Ok(Some(clock::runtime_ms() + PAUSE_AFTER_ERROR_MS));
            }
        };
        let mut left = Left::default();
        if let Some(sink) = &sink {
            self.attempt_all(sink).await?;
            left.next_attempt_ms = self.table.next_due_ms()?;
        }
        let ageing = if sink.is_some() { Ageing::Finished } else { Ageing::Received };
        left.next_purge_in_ms = self.purge(ageing)?;
        Ok(next_alarm_ms(left, clock::runtime_ms()))
    }

    /// Makes attempts until nothing is due, or the alarm has made as many or taken as long as it may.
    async fn attempt_all(&self, sink: &Sink) -> Result<()> {
        let mut under_way: Vec<Attempt<'_>> = Vec::new();
        let (mut begun, since_ms) = (0, clock::runtime_ms());
        let begins = |begun| may_begin(begun, clock::runtime_ms() - since_ms);
        loop {
            while begins(begun)
                && let Some(attempt) = self.begin(sink, &under_way)?
            {
                under_way.push(attempt);
                begun += 1;
            }
            if under_way.is_empty() {
                return Ok(());
            }
            let looks_again = begins(begun) && under_way.len() < SLOTS;
            let pause = if looks_again { LOOK_AGAIN } else { Duration::from_millis(u64::from(DEADLINE_MS)) };
            under_way = self.settle_next(under_way, pause).await?;
        }
    }

    /// Begins the attempt that is due, if a slot is free for it.
    fn begin<'s>(&self, sink: &'s Sink, under_way: &[Attempt<'_>]) -> Result<Option<Attempt<'s>>> {
        let retries = under_way.iter().filter(|attempt| attempt.is_retry).count();
        if under_way.len() >= SLOTS {
            return Ok(None);
        }
        let now_ms = clock::runtime_ms();
        for status in choices(retries) {
            let Some((begun, body)) = self.table.begin(*status, now_ms)? else { continue };
            let (attempts, now_ms) = (begun.attempts, clock::now_ms(&self.env));
            let outcome = Box::pin(async move { within_deadline(sink.take(&body, attempts, now_ms)).await });
            return Ok(Some(Attempt { begun, is_retry: *status == Status::Error, outcome }));
        }
        Ok(None)
    }

    /// Waits for the next attempt that ends, at most for `pause`, and settles it. Returns those that are under way.
    async fn settle_next<'s>(
        &self,
        under_way: Vec<Attempt<'s>>,
        pause: Duration,
    ) -> Result<Vec<Attempt<'s>>> {
        let ids: Vec<_> = under_way.iter().map(|attempt| attempt.begun.clone()).collect();
        match select(select_all(under_way), Delay::from(pause)).await {
            Either::Left(((outcome, index, rest), _)) => {
                if let Some(begun) = ids.get(index) {
                    self.settle(begun, outcome)?;
                }
                Ok(rest)
            }
            Either::Right(((), waiting)) => Ok(waiting.into_inner()),
        }
    }

    fn settle(&self, begun: &Begun, outcome: core::result::Result<(), Failure>) -> Result<()> {
        match outcome {
            Ok(()) => self.table.succeed(begun),
            Err(failure) => {
                let (id, attempts) = (&begun.id, begun.attempts);
                console_warn!("event {id} was not taken at attempt {attempts}: {failure}");
                self.table.fail(begun, &failure.to_string(), clock::runtime_ms() + wait_ms(attempts))
            }
        }
    }

    /// Removes some of the records that are too old. Says in how many milliseconds the next ones will be.
    fn purge(&self, ageing: Ageing) -> Result<Option<i64>> {
        let Ok(bound_ms) = settings::kept_since_ms(&self.env) else {
            console_error!(
                "nothing is removed: the value of {} cannot be used",
                configuration::RETENTION_DAYS
            );
            return Ok(None);
        };
        Ok(self.table.purge(ageing, bound_ms)?.map(|oldest_ms| oldest_ms - bound_ms))
    }
}

/// The outcome of an attempt, or that it took too long.
pub(crate) async fn within_deadline(
    attempt: impl Future<Output = core::result::Result<(), Failure>>,
) -> core::result::Result<(), Failure> {
    let deadline = Delay::from(Duration::from_millis(u64::from(DEADLINE_MS)));
    match select(Box::pin(attempt), deadline).await {
        Either::Left((outcome, _)) => outcome,
        Either::Right(_) => Err(Failure::TimedOut),
    }
}
