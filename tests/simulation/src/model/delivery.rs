//! A delivery as the model believes it to be, and what an attempt makes of it (contract 2.9, 7.2, 7.4).

use super::schedule::Then;
use crate::network::Call;
use crate::receiver::Reply;

/// How long a lease holds (contract 7.4).
pub(crate) const LEASE_MS: i64 = 60_000;

/// How long a leased delivery may wait for its request, and a little more.
pub(crate) const QUEUED_MS: i64 = 2_100;

/// Why a delivery ended without success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// No attempt was left.
    Exhausted,
    /// The receiver went on refusing, or gave it up.
    Rejected,
    /// 410.
    Gone,
    /// Its endpoint was disabled.
    Disabled,
    /// Its endpoint was deleted.
    Deleted,
}

impl Reason {
    /// The contract's word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Exhausted => "attempts_exhausted",
            Self::Rejected => "rejected",
            Self::Gone => "gone",
            Self::Disabled => "endpoint_disabled",
            Self::Deleted => "endpoint_deleted",
        }
    }
}

/// Where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Status {
    Pending,
    Succeeded,
    Failed(Reason),
    Cancelled(Reason),
}

impl Status {
    /// The contract's words: the status and the reason.
    pub(crate) fn words(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Pending => ("pending", None),
            Self::Succeeded => ("succeeded", None),
            Self::Failed(reason) => ("failed", Some(reason.word())),
            Self::Cancelled(reason) => ("cancelled", Some(reason.word())),
        }
    }
}

/// Who may settle it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    /// The attempt; `None` when it was taken and never sent.
    pub(crate) call: Option<Call>,
    /// From then on somebody else may take it.
    pub(crate) until: i64,
    /// When the attempt began, by the wall.
    pub(crate) started: i64,
}

/// A retry that was asked for while somebody held the delivery: it follows at once when the attempt of this holder
/// fails. Whoever takes the delivery next has what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RetryAsked {
    /// When, by the wall.
    pub(crate) at: i64,
    /// The attempt that was under way; `None` when the holder had not sent it yet.
    pub(crate) during: Option<Call>,
}

/// A delivery.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) event: String,
    pub(crate) endpoint: String,
    pub(crate) trigger: &'static str,
    pub(crate) status: Status,
    /// Attempts whose outcome counted.
    pub(crate) attempts: i64,
    /// Requests that arrived, those without an outcome included.
    pub(crate) arrived: i64,
    /// Requests that the receiver acknowledged, whether or not anybody heard of it.
    pub(crate) acknowledged: bool,
    /// Not to be sent before this time, by the wall.
    pub(crate) due: i64,
    /// The latest that the schedule allows for `due`; the row decides within.
    pub(crate) due_at_most: i64,
    pub(crate) lease: Option<Lease>,
    pub(crate) last: Option<Reply>,
    /// When it was made, by the wall.
    pub(crate) made: i64,
    /// Attempts that the receiver put off.
    pub(crate) put_off: i64,
    /// Somebody asked for it while its endpoint was held back: it may go as the probe (contract 18.4-6).
    pub(crate) probe: bool,
    pub(crate) retry_asked: Option<RetryAsked>,
    /// Its endpoint was disabled or deleted while somebody held it: no attempt follows, whatever becomes of that.
    pub(crate) called_off: bool,
}

impl Delivery {
    /// A fresh one, due at `now`.
    pub(crate) fn new(event: &str, endpoint: &str, trigger: &'static str, now: i64) -> Self {
        Self {
            event: event.to_owned(),
            endpoint: endpoint.to_owned(),
            trigger,
            status: Status::Pending,
            attempts: 0,
            arrived: 0,
            acknowledged: false,
            due: now,
            due_at_most: now,
            lease: None,
            last: None,
            made: now,
            put_off: 0,
            probe: trigger == "test",
            retry_asked: None,
            called_off: false,
        }
    }

    /// Whether a request of it may be under way at `wall`. What waits in a queue is leased as well.
    pub(crate) fn under_way(&self, wall: i64) -> bool {
        self.leased(wall) && self.lease.is_some_and(|lease| lease.call.is_some())
    }

    /// Whether somebody holds it at `wall`.
    pub(crate) fn leased(&self, wall: i64) -> bool {
        self.lease.is_some_and(|lease| lease.until >= wall)
    }

    /// Its next attempt is wanted at `wall`; `held` when somebody has taken it.
    pub(crate) fn hasten(&mut self, wall: i64, held: bool) {
        self.due = self.due.min(wall);
        self.due_at_most = self.due_at_most.min(wall);
        self.probe = true;
        self.called_off = false;
        let during = self.lease.filter(|_| self.leased(wall)).and_then(|lease| lease.call);
        self.retry_asked = held.then_some(RetryAsked { at: wall, during });
    }

    /// The outcome of the attempt that holds it is known. `off`: why it ends here where it was called off.
    pub(crate) fn settle(&mut self, reply: &Reply, then: Then, off: Reason) {
        self.attempts += 1;
        self.probe = false;
        self.lease = None;
        self.last = Some(reply.clone());
        match then {
            Then::Succeeded => self.status = Status::Succeeded,
            Then::Failed(reason) => self.status = Status::Failed(reason),
            Then::Again(earliest, latest) => (self.due, self.due_at_most) = (earliest, latest),
            Then::PutOff(earliest, latest) => {
                self.put_off += 1;
                (self.due, self.due_at_most) = (earliest, latest);
            }
        }
        let is_over = matches!(then, Then::Succeeded | Then::Failed(Reason::Gone));
        if let Some(asked) = self.retry_asked.take().filter(|_| !is_over) {
            (self.status, self.probe) = (Status::Pending, true);
            (self.due, self.due_at_most) = (asked.at, asked.at);
        }
        if self.called_off && self.status == Status::Pending {
            self.cancel(off);
        }
    }

    /// Nothing of it will be sent any more.
    pub(crate) fn cancel(&mut self, reason: Reason) {
        self.status = Status::Cancelled(reason);
        self.lease = None;
    }
}
