//! What a use case may ask of a database: one trait per aggregate, implemented once per database over the same SQL.
//!
//! Every function on tenant data takes the [`Tenant`](authority_domain::tenant::Tenant); functions without one belong
//! to the operator side, to authentication or to the dispatcher, which act for all tenants.

mod access;
mod commerce;
mod deliveries;
mod endpoints;
mod events;
mod requests;

pub use access::{Access, ApiKeyRecord, OperatorKeyRecord};
pub use commerce::{Commerce, ProcessorMessage, StoredOrder};
pub use deliveries::{
    Deliveries, HealthUpdate, Lease, LeasedDelivery, NewDelivery, SettledAs, Settlement, Trigger,
};
pub use endpoints::{Endpoints, SealedSecret};
pub use events::{Events, StreamPosition, StreamRange};
pub use requests::{AuditEntry, IdempotencyRecord, KeyScope, Requests};

/// Everything a job can reach, inside its transaction.
pub trait Tx: Access + Commerce + Deliveries + Endpoints + Events + Requests + Send {}

impl<T: Access + Commerce + Deliveries + Endpoints + Events + Requests + Send> Tx for T {}
