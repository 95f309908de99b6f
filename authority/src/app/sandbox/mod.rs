//! The sandbox's use cases (contract 6.3): a merchant's developer plays the platform, the processor and the carrier, on
//! the test data of the own merchant.
//!
//! What is asked for in shorthand is spelled out as the operator would say it, read by the operator's readers and done by
//! the operator's functions: there is no second implementation of a rule. Processors' event ids are made here, one for
//! every report, from the request's time and 80 random bits, so that they meet nobody else's.

mod advance;
mod checkouts;
mod orders;
mod payments;
pub mod refunding;
pub mod seed;
mod sharing;
mod subscriptions;
mod telling;

use authority_domain::id::EventId;
use authority_domain::merchant::Merchant;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use authority_store::ports::KeyScope;
use futures_util::future::BoxFuture;
use serde::Serialize;

use super::access::Caller;
use super::mutation::Work;
use super::{Answer, App, Mutation};

/// The processor of sandbox payments.
pub(super) const PROCESSOR: &str = "sandbox";

/// What an advance did: the record as it is now, and whether it changed.
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

/// On whose data somebody plays.
#[derive(Clone, Debug)]
pub struct Owner {
    /// Test mode.
    pub tenant: Tenant,
    /// The merchant as it is now.
    pub merchant: Merchant,
}

impl Owner {
    /// The caller's own.
    #[must_use]
    pub fn of(caller: &Caller) -> Self {
        Self { tenant: caller.tenant.clone(), merchant: caller.merchant.clone() }
    }
}

/// Runs a use case of the sandbox in one transaction, under the merchant's own idempotency keys.
async fn run<F>(app: &App, whose: Owner, mutation: Mutation, work: F) -> Result<Answer, Refusal>
where
    F: for<'t> FnOnce(&'t mut Work<'_>, Tenant, Merchant) -> BoxFuture<'t, Result<Answer, Refusal>>
        + Send
        + 'static,
{
    let Owner { tenant, merchant } = whose;
    mutation.run(app, KeyScope::Merchant(tenant.clone()), move |frame| work(frame, tenant, merchant)).await
}

/// An id that no processor has given an event.
pub(super) fn processor_event_id(work: &mut Work<'_>) -> String {
    format!("{PROCESSOR}_{}", EventId::generate(work.now, &mut work.dice))
}
