//! What a job can ask inside its transaction ([`Tx`]), and what it asks with and gets: filters, records with what
//! stands beside them, figures. Each is declared in `sql/`, beside its SQL or in `transaction`.

pub use crate::sql::checkout::DueCheckout;
pub use crate::sql::delivery::NewDeliveryState;
pub use crate::sql::delivery::day_figures::HourFigures;
pub use crate::sql::delivery::history::EventHead;
pub use crate::sql::delivery::settlements::{Settled, SettledAs, Settlement};
pub use crate::sql::endpoint::health::{ConditionOf, Overdue};
pub use crate::sql::endpoint::recoveries::{RecoveryBacklog, RecoveryJob, RecoveryStep};
pub use crate::sql::endpoint::sealed::{AnswerPosition, SealedOption, SecretPosition};
pub use crate::sql::endpoint::undelivered::{Missed, Stretch};
pub use crate::sql::event::retention::OldEvent;
pub use crate::sql::event::{StreamPosition, StreamRange};
pub use crate::sql::idempotency::IdempotencyRecord;
pub use crate::sql::inspect::{InspectedOrders, InspectedPayments};
pub use crate::sql::merchant::access::OperatorKeyRecord;
pub use crate::sql::merchant::owners::OwnedRecord;
pub use crate::sql::merchant::portal_sessions::FoundPortalSession;
pub use crate::sql::operator::console_sessions::ConsoleSession;
pub use crate::sql::operator::figures::QueueFigures;
pub use crate::sql::operator::reads::{Backlog, FoundDelivery, FoundEndpoint, Outbox, OutboxFigures};
pub use crate::sql::operator::search::{FoundRecord, MatchedName, NamedRecord, SideRecord};
pub use crate::sql::order::{PendingLimit, PendingOrder};
pub use crate::sql::partner::orders::SeenOrder;
pub use crate::sql::partner::shares::SharePositions;
pub use crate::sql::payment::FoundPayment;
pub use crate::sql::refund::FoundRefund;
pub use crate::sql::transaction::Tx;
pub use crate::sql::transaction::first_reads::{FirstRead, Prefetch};
pub use crate::sql::transaction::keys::{KeyScope, MadeUnderKey, MessageId, ProcessorMessage};
pub use crate::sql::transaction::pages::{LOOK_AHEAD, PAGE_BYTES, Page, PageById, SequenceRange};
pub use crate::sql::transaction::transaction_cache::KnownMessage;
pub use crate::sql::transaction::tx::Written;
