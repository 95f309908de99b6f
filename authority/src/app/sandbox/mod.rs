//! The sandbox's use cases (contract 6.3): a merchant's developer plays the platform, the processor and the
//! carrier, on the test data of the developer's own merchant.
//!
//! A short sandbox request is expanded into the operator's request, read by the operator's readers and executed by
//! the operator's functions: no rule is implemented twice. Processors' event ids are generated here, one for every
//! report, from the request's time and 80 random bits, so that they never collide with another one.

mod advance;
mod checkouts;
pub mod clock;
mod demo_story;
mod orders;
mod payments;
pub mod refunding;
pub mod seed;
mod settle_clock;
mod sharing;
mod subscriptions;

use authority_domain::EventId;

use super::mutation::Work;

/// The processor of sandbox payments.
pub(super) const PROCESSOR: &str = "sandbox";

/// A new event id that no processor has used.
pub(super) fn processor_event_id(work: &mut Work<'_>) -> String {
    format!("{PROCESSOR}_{}", EventId::generate(work.now, &mut work.dice))
}
