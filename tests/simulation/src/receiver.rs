//! The model receiver: what stands behind an endpoint's URL, and how it answers today.
//!
//! A receiver is in a mood for a while and healthy otherwise. The mood decides the answer of each request when it
//! arrives: how long it takes, and what it says. Nothing here knows the rules by which an answer is judged.

use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

use authority_domain::AttemptOutcome;
use rand::rngs::StdRng;
use rand::{Rng, RngExt as _};

/// The time of an attempt is over (contract 7.2).
pub(crate) const DEADLINE_MS: i64 = 15_000;

/// How long a body that never ends keeps its place in the transport (contract 15.5).
const DRAIN_MS: i64 = 2_000;

/// How a receiver asks for time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryAfter {
    /// So many seconds.
    Seconds(i64),
    /// An HTTP date so many seconds from the answer, possibly in the past.
    Date(i64),
    /// Nothing that can be read.
    Unreadable,
}

/// How a receiver behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    /// 2xx at once.
    Healthy,
    /// 2xx, late.
    Slow,
    /// The answer comes too late or never.
    Hangs,
    /// 2xx, and a body that drips.
    Drips,
    /// This status.
    Answers(u16),
    /// This status, and when to come again.
    Asks(u16, RetryAfter),
    /// This status with `Service-Delivery: disable`.
    Disables(u16),
    /// This status with `Service-Delivery: abort`.
    Aborts(u16),
    /// No answer, for this reason.
    Unreachable(AttemptOutcome),
    /// One thing or another.
    Flaps,
    /// So many at a time, a while each; 429 beyond, to come again at once.
    Crowded(usize),
}

/// What a receiver says of its delivery or its endpoint (contract 15.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Send nothing more to this endpoint.
    Disable,
    /// Give this delivery up.
    Abort,
}

impl Word {
    /// The header's text.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Disable => "disable",
            Self::Abort => "abort",
        }
    }
}

/// What comes back for one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    /// Milliseconds until the headers are complete, or until it has failed.
    pub(crate) after_ms: i64,
    /// Milliseconds that the body takes.
    pub(crate) body_ms: i64,
    /// How the attempt ends.
    pub(crate) outcome: AttemptOutcome,
    /// The status, where there is one.
    pub(crate) status: Option<u16>,
    /// What it asks for.
    pub(crate) retry_after: Option<RetryAfter>,
    /// The header of contract 15.7.
    pub(crate) word: Option<Word>,
}

impl Mood {
    /// Any mood but healthy.
    pub(crate) fn any(dice: &mut StdRng) -> Self {
        const STATUSES: [u16; 22] = [
            302, 304, 400, 401, 403, 404, 405, 408, 409, 413, 422, 425, 429, 451, 500, 501, 502, 503, 504,
            507, 599, 999,
        ];
        const FAILURES: [AttemptOutcome; 5] = [
            AttemptOutcome::ConnectError,
            AttemptOutcome::DnsError,
            AttemptOutcome::TlsError,
            AttemptOutcome::BlockedAddress,
            AttemptOutcome::ProtocolError,
        ];
        let status = STATUSES[dice.random_range(0..STATUSES.len())];
        match dice.random_range(0..100) {
            0..12 => Self::Slow,
            12..27 => Self::Hangs,
            27..33 => Self::Drips,
            33..55 => Self::Answers(status),
            55..70 => Self::Asks([429, 503, 500][dice.random_range(0..3)], RetryAfter::any(dice)),
            70..73 => Self::Answers(410),
            73..75 => Self::Disables(status),
            75..77 => Self::Aborts(status),
            77..90 => Self::Unreachable(FAILURES[dice.random_range(0..FAILURES.len())]),
            90..95 => Self::Flaps,
            _ => Self::Crowded(dice.random_range(1..3)),
        }
    }

    /// What the next request gets; so many others are under way.
    pub(crate) fn reply(self, dice: &mut StdRng, others: usize) -> Reply {
        let quick = dice.random_range(1..400);
        let answer = |after_ms, status| Reply {
            after_ms,
            body_ms: 0,
            outcome: AttemptOutcome::of_status(status),
            status: Some(status),
            retry_after: None,
            word: None,
        };
        let failure = |after_ms, outcome| Reply { outcome, status: None, ..answer(after_ms, 200) };
        match self {
            Self::Healthy => answer(quick, [200, 201, 202, 204][dice.random_range(0..4)]),
            Self::Slow => answer(dice.random_range(2_000..DEADLINE_MS), 200),
            Self::Hangs => failure(DEADLINE_MS, AttemptOutcome::Timeout),
            Self::Drips => Reply { body_ms: DRAIN_MS, ..answer(quick, 200) },
            Self::Answers(status) => answer(quick, status),
            Self::Asks(status, asked) => Reply { retry_after: Some(asked), ..answer(quick, status) },
            Self::Disables(status) => Reply { word: Some(Word::Disable), ..answer(quick, status) },
            Self::Aborts(status) => Reply { word: Some(Word::Abort), ..answer(quick, status) },
            Self::Unreachable(outcome) => failure(quick, outcome),
            Self::Crowded(room) if others < room => answer(dice.random_range(1_000..10_000), 200),
            Self::Crowded(_) => Reply { retry_after: Some(RetryAfter::Seconds(0)), ..answer(quick, 429) },
            Self::Flaps => match dice.random_range(0..6) {
                0 => failure(DEADLINE_MS, AttemptOutcome::Timeout),
                1 => answer(quick, 500),
                2 => answer(quick, 503),
                _ => answer(quick, 200),
            },
        }
    }
}

impl RetryAfter {
    fn any(dice: &mut StdRng) -> Self {
        match dice.random_range(0..10) {
            0 => Self::Seconds(0),
            1..4 => Self::Seconds(dice.random_range(1..120)),
            4 => Self::Seconds(dice.random_range(3_600..50_000)),
            5 => Self::Seconds(dice.random_range(86_000..200_000)),
            6..8 => Self::Date(dice.random_range(-100..600)),
            8 => Self::Date(dice.random_range(3_600..100_000)),
            _ => Self::Unreadable,
        }
    }

    /// The header's text in an answer at `wall`.
    pub(crate) fn text(self, wall: i64) -> String {
        match self {
            Self::Seconds(seconds) => seconds.to_string(),
            Self::Date(seconds) => {
                let ms = u64::try_from(wall + seconds * 1000).unwrap_or(0);
                httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(ms))
            }
            Self::Unreadable => "soon".to_owned(),
        }
    }

    /// The wait it asks for in an answer at `wall`, in milliseconds; `None` when it asks for none.
    pub(crate) fn wait_ms(self, wall: i64) -> Option<i64> {
        match self {
            Self::Seconds(seconds) => Some(seconds * 1000),
            // A date has whole seconds.
            Self::Date(seconds) => Some(((wall + seconds * 1000).div_euclid(1000) * 1000 - wall).max(0)),
            Self::Unreadable => None,
        }
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.outcome.as_str())?;
        if let Some(status) = self.status {
            write!(f, " {status}")?;
        }
        if let Some(asked) = self.retry_after {
            write!(f, " retry-after {asked:?}")?;
        }
        if let Some(word) = self.word {
            write!(f, " says {word:?}")?;
        }
        write!(f, " after {} ms", self.after_ms)
    }
}

/// What remains of a random stream: names nothing, decides everything.
pub(crate) fn chance(dice: &mut dyn Rng, of_a_hundred: u32) -> bool {
    dice.next_u32() % 100 < of_a_hundred
}
