//! What a job can ask inside its transaction ([`Tx`]), and what it asks with and gets: filters, records with what
//! stands beside them, figures. Each is declared beside its SQL (`sql/`).

pub use authority_domain::delivery::Trigger;

pub use crate::sql::checkout::DueCheckout;
pub use crate::sql::delivery::history::EventHead;
pub use crate::sql::delivery::leased::{Bounds, Lease, LeasedDelivery, instance_of};
pub use crate::sql::delivery::settlements::{Settled, SettledAs, Settlement};
pub use crate::sql::delivery::{HeldBy, NewDelivery, NewDeliveryState};
pub use crate::sql::endpoint::health::{ConditionOf, Overdue};
pub use crate::sql::endpoint::recoveries::{RecoveryBacklog, RecoveryJob, RecoveryStep};
pub use crate::sql::endpoint::rows::{DeliveryOptions, DispatchTarget, SealedSecret, Subscriber};
pub use crate::sql::endpoint::sealed::{AnswerPosition, SealedOption, SecretPosition};
pub use crate::sql::endpoint::undelivered::{Missed, Stretch};
pub use crate::sql::event::retention::OldEvent;
pub use crate::sql::event::{StreamPosition, StreamRange};
pub use crate::sql::idempotency::{IdempotencyRecord, KeyScope, MadeUnderKey};
pub use crate::sql::inspect::{InspectedOrders, InspectedPayments};
pub use crate::sql::merchant::access::OperatorKeyRecord;
pub use crate::sql::merchant::owners::OwnedRecord;
pub use crate::sql::merchant::portal_sessions::FoundPortalSession;
pub use crate::sql::operator::audit::Written;
pub use crate::sql::operator::console_sessions::ConsoleSession;
pub use crate::sql::operator::figures::QueueFigures;
pub use crate::sql::operator::reads::{Backlog, FoundDelivery, FoundEndpoint, Outbox, OutboxFigures};
pub use crate::sql::operator::search::{FoundRecord, MatchedName, NamedRecord, SideRecord};
pub use crate::sql::order::story::HourFigures;
pub use crate::sql::order::{PendingLimit, PendingOrder};
pub use crate::sql::partner::orders::SeenOrder;
pub use crate::sql::partner::shares::SharePositions;
pub use crate::sql::payment::FoundPayment;
pub use crate::sql::payment::processor_reports::{KnownMessage, MessageId, ProcessorMessage};
pub use crate::sql::refund::FoundRefund;
pub use crate::sql::transaction::Tx;
pub use crate::sql::transaction::prefetch::{FirstRead, Prefetch};

/// The most bytes of items that a page of a list may hold (contract 18.2): reading stops at the first row that does
/// not fit.
pub const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// The most rows that a page looks at for those that match its filters, where no index finds them.
pub const LOOK_AHEAD: i64 = 10_000;

/// What was read for a page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// In the order of the list, each with its position.
    pub rows: Vec<(i64, T)>,
    /// The page looked at [`LOOK_AHEAD`] rows, of which this position is the last. What is behind it was not looked at.
    pub looked_to: Option<i64>,
}

impl<T> From<Vec<(i64, T)>> for Page<T> {
    /// A page that looked as far as it had to.
    fn from(rows: Vec<(i64, T)>) -> Self {
        Self { rows, looked_to: None }
    }
}

/// What was read for a page of an operator's list, which goes by ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageById<T> {
    /// In the order of the list.
    pub rows: Vec<T>,
    /// The page looked at [`LOOK_AHEAD`] rows, of which this is the last one's id.
    pub looked_to: Option<String>,
}

impl<T> From<Vec<T>> for PageById<T> {
    /// A page that looked as far as it had to.
    fn from(rows: Vec<T>) -> Self {
        Self { rows, looked_to: None }
    }
}

/// The sequence numbers of one record's events in one commit: the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceRange {
    /// The record's position in lists, when this is its first commit.
    pub first: i64,
    /// The order's position in the feed of changes.
    pub last: i64,
}
