//! Hands deliveries off from a transaction to the dispatcher of the same instance, without a second transaction in
//! between (contract 15.9).
//!
//! A dispatcher registers a [`DispatchHandle`]. Jobs lease rows to it: new ones as they write them (`commit`), and
//! due ones wherever there may be capacity now ([`crate::claims`]). What a job leased travels with the job. After the
//! commit, and only then, the writer passes it to the dispatcher. When a job is undone or a commit fails, its
//! deliveries are dropped, and their slots with them.
//!
//! When the instance dies in between, the leases run out, or the next start takes them back. An instance without a
//! dispatcher, such as a command, has no dispatch handle: the deliveries that it writes stay in the outbox until an
//! instance claims them.

mod effects;
mod handle;
mod leased;
mod subscriber;

pub(crate) use self::effects::{CommitEffects, CommitListeners};
pub use self::handle::{BeginAttempts, DispatchHandle, DispatchRegistration, GiveBack, HandedOff, Recall};
pub use self::leased::{DeliveryOptions, HeldBy, Lease, LeasedDelivery, SealedSecret, instance_of};
pub use self::subscriber::{DispatchTarget, NewDelivery, Subscriber};
