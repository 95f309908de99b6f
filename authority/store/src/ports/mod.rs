//! What a use case can ask of a database: one trait per aggregate, implemented once per database over the same SQL.
//!
//! Every function on tenant data takes the [`Tenant`](authority_domain::tenant::Tenant); functions without one belong
//! to the operator side, to authentication or to the dispatcher, which act for all tenants.
//!
//! `*_put` writes one version of a record: version 1 inserts it, a later one replaces the version before it. They are
//! called by [`crate::commit`] alone, which writes the events from the same list.

mod access;
mod alerts;
mod api_keys;
mod audit;
mod change_marks;
mod checkouts;
mod checkpoints;
mod connections;
mod console_sessions;
mod deliveries;
mod delivery_history;
mod endpoint_health;
mod endpoints;
mod events;
mod external_references;
mod figures;
mod hand_off;
mod health_figures;
mod inspect;
mod instances;
mod merchants;
mod operator_reads;
mod order_numbers;
mod order_story;
mod orders;
mod owners;
mod partner_orders;
mod payments;
mod portal_sessions;
mod prefetch;
mod processor_reports;
mod recoveries;
mod refunds;
mod requests;
mod retention;
mod sandbox_clock;
mod sealed;
mod search;
mod shares;
mod shipments;
mod signing_secrets;
mod subscriptions;
mod turns;
mod undelivered;

pub use authority_domain::delivery::Trigger;

pub use access::{Access, OperatorKeyRecord};
pub use alerts::{AlertFilter, Alerts};
pub use api_keys::ApiKeys;
pub use audit::{Audit, AuditFilter, Written};
pub use change_marks::ChangeMarks;
pub use checkouts::{Checkouts, DueCheckout};
pub use checkpoints::Checkpoints;
pub use connections::Connections;
pub use console_sessions::{ConsoleSession, ConsoleSessions};
pub use deliveries::{
    Bounds, Deliveries, HeldBy, Lease, LeasedDelivery, NewDelivery, NewDeliveryState, Settled, SettledAs,
    Settlement, instance_of,
};
pub use delivery_history::{DeliveryHistory, EventHead};
pub use endpoint_health::{ConditionOf, EndpointHealth, Overdue};
pub use endpoints::{DeliveryOptions, DispatchTarget, Endpoints, SealedSecret, Subscriber};
pub use events::{Events, StreamPosition, StreamRange};
pub use external_references::ExternalReferences;
pub use figures::{Figures, QueueFigures};
pub use hand_off::HandOff;
pub use health_figures::HealthFigures;
pub use inspect::{Inspect, InspectedOrders, InspectedPayments};
pub use instances::Instances;
pub use merchants::{MerchantFilter, Merchants};
pub use operator_reads::{
    AllDeliveriesFilter, Backlog, FoundDelivery, FoundEndpoint, OperatorReads, Outbox, OutboxFigures,
};
pub use order_numbers::OrderNumbers;
pub use order_story::{HourFigures, OrderStory};
pub use orders::{Orders, PendingLimit, PendingOrder};
pub use owners::{OwnedRecord, Owners};
pub use partner_orders::{PartnerOrders, SeenOrder};
pub use payments::{AllPaymentsFilter, FoundPayment, Payments};
pub use portal_sessions::{FoundPortalSession, PortalSessions};
pub use prefetch::{FirstRead, Prefetch};
pub use processor_reports::{KnownMessage, MessageId, ProcessorMessage, ProcessorReports};
pub use recoveries::{Recoveries, RecoveryBacklog, RecoveryJob, RecoveryStep};
pub use refunds::{FoundRefund, Refunds};
pub use requests::{IdempotencyRecord, KeyScope, MadeUnderKey, Requests};
pub use retention::{OldEvent, Retention};
pub use sandbox_clock::SandboxClocks;
pub use sealed::{AnswerPosition, Sealed, SealedOption, SecretPosition};
pub use search::{FoundRecord, MatchedName, NamedRecord, Search};
pub use shares::{SharePositions, Shares};
pub use shipments::Shipments;
pub use signing_secrets::SigningSecrets;
pub use subscriptions::Subscriptions;
pub use turns::TurnHolder;
pub use undelivered::{Missed, Stretch, Undelivered};

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

/// Everything a job can reach, inside its transaction.
pub trait Tx:
    Access
    + Alerts
    + ApiKeys
    + Audit
    + ChangeMarks
    + Checkouts
    + Checkpoints
    + Connections
    + ConsoleSessions
    + Deliveries
    + DeliveryHistory
    + EndpointHealth
    + Endpoints
    + Events
    + ExternalReferences
    + Figures
    + HandOff
    + HealthFigures
    + Instances
    + Merchants
    + OperatorReads
    + OrderNumbers
    + OrderStory
    + Orders
    + Owners
    + PartnerOrders
    + Payments
    + PortalSessions
    + ProcessorReports
    + Recoveries
    + Refunds
    + Requests
    + Retention
    + SandboxClocks
    + Sealed
    + Search
    + Shares
    + Shipments
    + SigningSecrets
    + Subscriptions
    + TurnHolder
    + Undelivered
    + Send
{
}

impl<T> Tx for T where
    T: Access
        + Alerts
        + ApiKeys
        + Audit
        + ChangeMarks
        + Checkouts
        + Checkpoints
        + Connections
        + ConsoleSessions
        + Deliveries
        + DeliveryHistory
        + EndpointHealth
        + Endpoints
        + Events
        + ExternalReferences
        + Figures
        + HandOff
        + HealthFigures
        + Instances
        + Merchants
        + OperatorReads
        + OrderNumbers
        + OrderStory
        + Orders
        + Owners
        + PartnerOrders
        + Payments
        + PortalSessions
        + ProcessorReports
        + Recoveries
        + Refunds
        + Requests
        + Retention
        + SandboxClocks
        + Sealed
        + Search
        + Shares
        + Shipments
        + SigningSecrets
        + Subscriptions
        + TurnHolder
        + Undelivered
        + Send
{
}

/// Everything an inspection of the whole database can reach (see [`crate::Inspection`]).
pub trait Snapshot: Inspect + Sealed + Send {}

impl<T> Snapshot for T where T: Inspect + Sealed + Send {}
