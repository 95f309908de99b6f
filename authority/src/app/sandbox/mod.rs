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

use authority_domain::id::EventId;
use authority_domain::merchant::Merchant;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use authority_store::tx::KeyScope;
use futures_util::future::BoxFuture;
use serde::Serialize;

use super::access::Caller;
use super::mutation::Work;
use super::{Answer, App, Mutation};

/// The processor of sandbox payments.
pub(super) const PROCESSOR: &str = "sandbox";

/// The result of an advance: the record as it is now, and whether it changed.
#[derive(Serialize)]
#[serde(tag = "object", rename = "report_result")]
struct AdvanceResult<'a, T> {
    applied: bool,
    #[serde(flatten)]
    record: Named<'a, T>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Named<'a, T> {
    Payment(&'a T),
    Refund(&'a T),
    Shipment(&'a T),
    Subscription(&'a T),
}

/// The merchant whose data a sandbox request works on.
#[derive(Clone, Debug)]
pub struct Owner {
    /// Test mode.
    pub tenant: Tenant,
    /// The merchant as it is now.
    pub merchant: Merchant,
}

impl Owner {
    /// The caller's own merchant.
    #[must_use]
    pub fn of(caller: &Caller) -> Self {
        Self { tenant: caller.tenant.clone(), merchant: caller.merchant.clone() }
    }
}

/// Runs a use case of the sandbox in one transaction, under the merchant's own idempotency keys.
async fn run<F>(app: &App, whose: Owner, mutation: Mutation, work: F) -> Result<Answer, Refusal>
where
    F: for<'t> FnOnce(&'t mut Work<'_>, Tenant, Merchant) -> BoxFuture<'t, Result<Answer, Refusal>>
        + Clone
        + Send
        + 'static,
{
    let Owner { tenant, merchant } = whose;
    mutation.run(app, KeyScope::Merchant(tenant.clone()), move |frame| work(frame, tenant, merchant)).await
}

/// A new event id that no processor has used.
pub(super) fn processor_event_id(work: &mut Work<'_>) -> String {
    format!("{PROCESSOR}_{}", EventId::generate(work.now, &mut work.dice))
}
