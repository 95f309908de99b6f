//! The schedule once more, from contract 7.2, 7.3, 4.10 and 15.7: what follows an attempt.

use super::delivery::{Delivery, Reason};
use crate::receiver::{Reply, Word};

/// The waits after attempts 1 to 9, in milliseconds.
const WAITS_MS: [i64; 9] =
    [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000];

/// Attempts when a receiver refuses, and of a test.
const REJECTED_ATTEMPTS: i64 = 4;
const TEST_ATTEMPTS: i64 = 3;

/// The longest wait that a receiver gets: a day.
const LONGEST_ASKED_MS: i64 = 86_400_000;

/// What follows an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// It is delivered.
    Succeeded,
    /// It is given up.
    Failed(Reason),
    /// Tried again, at some time between these.
    Again(i64, i64),
    /// The same, as the receiver asked: it did not use up the schedule.
    PutOff(i64, i64),
}

/// What kind of answer it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Success,
    Gone,
    /// The full schedule.
    Retryable,
    /// The short budget.
    Refused,
}

fn kind(reply: &Reply) -> Kind {
    match (reply.outcome, reply.status) {
        (_, Some(200..=299)) => Kind::Success,
        (_, Some(410)) => Kind::Gone,
        (_, Some(408 | 409 | 425 | 429 | 500..=599)) | (_, None) => Kind::Retryable,
        (_, Some(_)) => Kind::Refused,
    }
}

/// Whether the receiver acknowledged.
pub(crate) fn is_success(reply: &Reply) -> bool {
    kind(reply) == Kind::Success
}

/// Whether the receiver is gone for good.
pub(crate) fn is_gone(reply: &Reply) -> bool {
    kind(reply) == Kind::Gone
}

/// Whether the endpoint is held back after it (contract 15.6): 429, 502, 503, 504, and no answer at all.
pub(crate) fn holds_back(reply: &Reply) -> bool {
    matches!(reply.status, None | Some(429 | 502 | 503 | 504))
}

/// The wait that the receiver asked for and gets, for an answer at `wall`; only 429 and 503 can ask.
pub(crate) fn asked_ms(reply: &Reply, wall: i64) -> Option<i64> {
    let asked = reply.retry_after.filter(|_| matches!(reply.status, Some(429 | 503)))?;
    asked.wait_ms(wall).map(|ms| ms.min(LONGEST_ASKED_MS))
}

/// Attempts that a receiver may put off, and how long: as long as the schedule lasts (contract 18.4-5). Those of a test
/// delivery it may not (4.10).
const PUT_OFF_MOST: i64 = 90;
const SCHEDULE_MS: i64 = 272_105_000;

/// What follows an attempt of `delivery`, which ended at `wall`.
pub(crate) fn then(delivery: &Delivery, reply: &Reply, wall: i64) -> Then {
    let (test, put_off) = (delivery.trigger == "test", delivery.put_off);
    let number = delivery.attempts + 1 - put_off;
    let kind = kind(reply);
    let most = if test { TEST_ATTEMPTS } else { 10 };
    let word = reply.word.filter(|_| kind != Kind::Success);
    match kind {
        Kind::Success => return Then::Succeeded,
        Kind::Gone => return Then::Failed(Reason::Gone),
        _ if word == Some(Word::Abort) => return Then::Failed(Reason::Rejected),
        Kind::Refused if number >= REJECTED_ATTEMPTS.min(most) => return Then::Failed(Reason::Rejected),
        _ if number >= most => return Then::Failed(Reason::Exhausted),
        _ => {}
    }
    let wait = usize::try_from(number - 1).ok().and_then(|index| WAITS_MS.get(index)).copied().unwrap_or(0);
    let asked = asked_ms(reply, wall).unwrap_or(0);
    // 20 % either way; half a millisecond is rounded.
    let (least, most) = (wall + (wait * 8 / 10).max(asked), wall + (wait * 12 / 10).max(asked));
    let counts = test || asked == 0 || put_off >= PUT_OFF_MOST || wall - delivery.made >= SCHEDULE_MS;
    if counts { Then::Again(least, most) } else { Then::PutOff(least, most) }
}
