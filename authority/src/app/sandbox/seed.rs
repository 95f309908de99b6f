//! Demonstration data: orders in every state, generated from a seed (contract 6.3).
//!
//! Each order is its own transaction, so that no other write has to wait for a thousand of them. If the request
//! has an idempotency key, every order is stored under a derived key that no client can send. A request that was
//! interrupted and is repeated continues where it stopped; once it is done, a repetition gets the first answer.
//!
//! One request can be a thousand transactions, so a merchant has one seed running at a time; another one meanwhile is
//! refused.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use authority_domain::sandbox::demo_story::{Story, story};
use authority_domain::sandbox::requests::SeedRequest;
use authority_domain::{ErrorCode, MerchantId, OrderNumber, Refusal, Result};
use authority_store::tx::KeyScope;
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::{Deserialize, Serialize};

use super::demo_story;
use crate::app::{Answer, App, IdempotencyKey, Mutation, Owner};

/// What was created.
#[derive(Clone, Serialize)]
#[serde(tag = "object", rename = "sandbox_seed")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SandboxSeed"))]
pub(in crate::app) struct Seeded {
    /// False: seeds are for test mode.
    livemode: bool,
    /// The seed the data was generated from.
    // Any integer, while every other issued integer is a count.
    #[cfg_attr(feature = "schema", schemars(range(min = *authority_domain::bounds::INTEGER_RANGE.start(), max = *authority_domain::bounds::INTEGER_RANGE.end())))]
    seed: i64,
    /// The number of orders created.
    orders: i64,
    /// The first order's number.
    first_order_number: OrderNumber,
    /// The last order's number.
    last_order_number: OrderNumber,
}

/// What is stored for one finished order.
#[derive(Serialize, Deserialize)]
struct StoryProgress {
    order_number: OrderNumber,
}

/// Seconds after which whoever was refused may ask again.
const RETRY_AFTER_S: u32 = 1;

/// The merchants that a seed is running for.
#[derive(Debug, Default)]
pub struct Seeding(Mutex<HashSet<MerchantId>>);

/// A merchant that a seed is running for; free again when this ends, in whatever way.
struct SeedGuard {
    seeding: Arc<Seeding>,
    merchant: MerchantId,
}

impl Seeding {
    /// Begins a seed of this merchant.
    ///
    /// # Errors
    /// `rate_limited` while another one runs.
    fn begin(seeding: &Arc<Self>, merchant: &MerchantId) -> Result<SeedGuard> {
        if !seeding.0.lock().unwrap_or_else(PoisonError::into_inner).insert(merchant.clone()) {
            let detail = "A seed is running for this merchant: wait for its end.";
            return Err(Refusal::new(ErrorCode::RateLimited, detail).retry_after(RETRY_AFTER_S));
        }
        Ok(SeedGuard { seeding: Arc::clone(seeding), merchant: merchant.clone() })
    }
}

impl Drop for SeedGuard {
    fn drop(&mut self) {
        self.seeding.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.merchant);
    }
}

impl App {
    /// `POST /seed`: creates the requested number of orders. The same seed creates the same orders, except for ids
    /// and times. Orders that were created before a failure stay.
    ///
    /// # Errors
    /// 422 for wrong members; `rate_limited` while another seed of the merchant runs.
    pub async fn sandbox_seed(&self, whose: Owner, mutation: Mutation) -> Result<Answer> {
        if self.is_known(&whose, &mutation).await? {
            // The request is answered again, or refused because its body differs; either way nothing is created.
            return self.for_owner(mutation, whose, None, async |_, _| Err(Refusal::internal())).await;
        }
        let SeedRequest { orders, seed } = SeedRequest::read(&mutation.body)?;
        let _running = Seeding::begin(&self.seeding, &whose.tenant.merchant_id)?;
        let (mut first, mut last) = (None, None);
        for n in 0..orders {
            let number = self.sandbox_seed_order(&whose, &mutation, seed, n).await?;
            last = Some(number.clone());
            first = first.or(Some(number));
        }
        let first_order_number = first.ok_or_else(Refusal::internal)?;
        let last_order_number = last.ok_or_else(Refusal::internal)?;
        let livemode = whose.tenant.livemode;
        let seeded = Seeded { livemode, seed, orders, first_order_number, last_order_number };
        self.for_owner(mutation, whose, None, async move |_, _| Answer::record(201, &seeded)).await
    }

    /// Whether the request's key already has an answer.
    async fn is_known(&self, whose: &Owner, mutation: &Mutation) -> Result<bool> {
        let Some(IdempotencyKey { key, .. }) = mutation.idempotency.clone() else { return Ok(false) };
        let scope = KeyScope::Merchant(whose.tenant.clone());
        let now = self.now();
        let read = self.read(async move |tx| tx.idempotency_get(&scope, &key, now).await);
        Ok(read.await?.is_some())
    }

    /// The `n`-th order of a seed.
    async fn sandbox_seed_order(
        &self,
        whose: &Owner,
        mutation: &Mutation,
        seed: i64,
        n: i64,
    ) -> Result<OrderNumber> {
        let mut step = mutation.clone();
        // An operator's seed appears in the audit log only once.
        (step.if_match, step.author) = (None, None);
        if let Some(IdempotencyKey { key, .. }) = &mut step.idempotency {
            // No client's key can contain a space.
            *key = format!("{key} {n}");
        }
        let Story { basket, plot } = story(&whose.merchant.default_currency, &mut dice(seed, n));
        let answer = self
            .for_owner(step, whose.clone(), None, async move |work, owner| {
                let order_number = demo_story::play(work, &owner, &basket, plot).await?;
                Answer::record(201, &StoryProgress { order_number })
            })
            .await?;
        let progress: StoryProgress = serde_json::from_str(&answer.body).map_err(|_| Refusal::internal())?;
        Ok(progress.order_number)
    }
}

/// A random generator for each order.
fn dice(seed: i64, n: i64) -> StdRng {
    let mut bytes = [0; 32];
    let (of_seed, of_n) = (seed.to_be_bytes(), n.to_be_bytes());
    bytes.iter_mut().zip(of_seed.into_iter().chain(of_n)).for_each(|(to, from)| *to = from);
    StdRng::from_seed(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merchant_has_one_seed_at_a_time_and_others_have_theirs() {
        let seeding = Arc::new(Seeding::default());
        let [one, two] = ["mer_one", "mer_two"].map(|id| MerchantId::from_store(id.to_owned()));
        let running = Seeding::begin(&seeding, &one).unwrap();
        let refused = Seeding::begin(&seeding, &one).err().unwrap();
        assert_eq!((refused.code, refused.retry_after_s), (ErrorCode::RateLimited, Some(1)));
        assert!(Seeding::begin(&seeding, &two).is_ok());
        drop(running);
        assert!(Seeding::begin(&seeding, &one).is_ok());
    }
}
