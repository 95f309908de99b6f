//! Data for a demonstration: orders in every state, made of a seed (contract 6.3).
//!
//! Each order is a transaction of its own, so that nobody waits behind a thousand of them. Where the request has an
//! idempotency key, every order is kept under a key of its own that no client can send: repeated after it was broken off,
//! the request goes on where it stopped, and once it is done it gives its first answer.

use authority_domain::order::number::OrderNumber;
use authority_domain::refusal::Refusal;
use authority_domain::sandbox::demo_story::{Story, story};
use authority_domain::sandbox::requests::SeedRequest;
use authority_store::StoreError;
use authority_store::ports::{KeyScope, Tx};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Owner, run, telling};
use crate::app::{Answer, App, IdempotencyKey, Mutation};

/// What was made.
#[derive(Serialize)]
#[serde(tag = "object", rename = "sandbox_seed")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SandboxSeed"))]
pub(in crate::app) struct Seeded {
    /// False: seeds are for test mode.
    livemode: bool,
    /// The seed it was made from.
    // Any whole number, where every other that is issued counts something.
    #[cfg_attr(feature = "schema", schemars(range(min = *authority_domain::bounds::INTEGER_RANGE.start(), max = *authority_domain::bounds::INTEGER_RANGE.end())))]
    seed: i64,
    /// Orders that were made.
    orders: i64,
    /// The first order's number.
    first_order_number: OrderNumber,
    /// The last order's number.
    last_order_number: OrderNumber,
}

/// What is kept of one order on the way.
#[derive(Serialize, Deserialize)]
struct StoryProgress {
    order_number: OrderNumber,
}

impl App {
    /// `POST /seed`: so many orders, the same for the same seed but for ids and times. Orders that were made before the
    /// request failed stay.
    ///
    /// # Errors
    /// 422 for wrong members; `service_unavailable`.
    pub async fn sandbox_seed(
        &self,
        whose: Owner,
        mutation: Mutation,
        body: Value,
    ) -> Result<Answer, Refusal> {
        if self.is_known(&whose, &mutation).await? {
            // Answered again, or refused for another body; either way nothing is made.
            return run(self, whose, mutation, |_, _, _| Box::pin(async { Err(Refusal::internal()) })).await;
        }
        let SeedRequest { orders, seed } = SeedRequest::read(&body)?;
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
        run(self, whose, mutation, move |_, _, _| Box::pin(async move { Answer::record(201, &seeded) })).await
    }

    /// Whether the request's key has an answer already.
    async fn is_known(&self, whose: &Owner, mutation: &Mutation) -> Result<bool, Refusal> {
        let Some(IdempotencyKey { key, .. }) = mutation.idempotency.clone() else { return Ok(false) };
        let scope = KeyScope::Merchant(whose.tenant.clone());
        let now = self.now();
        self.store
            .read(move |tx: &mut dyn Tx| {
                Box::pin(async move { Ok(tx.idempotency_get(&scope, &key, now).await?.is_some()) })
            })
            .await
            .map_err(|error: StoreError| Refusal::from(error))
    }

    /// The `n`-th order of a seed.
    async fn sandbox_seed_order(
        &self,
        whose: &Owner,
        mutation: &Mutation,
        seed: i64,
        n: i64,
    ) -> Result<OrderNumber, Refusal> {
        let mut step = mutation.clone();
        // An operator's seed stands in the audit log once.
        (step.if_match, step.author) = (None, None);
        if let Some(IdempotencyKey { key, .. }) = &mut step.idempotency {
            // A blank is in no client's key.
            *key = format!("{key} {n}");
        }
        let Story { basket, plot } = story(&whose.merchant.default_currency, &mut dice(seed, n));
        let answer = run(self, whose.clone(), step, move |work, tenant, merchant| {
            Box::pin(async move {
                let order_number = telling::tell(work, &tenant, &merchant, &basket, plot).await?;
                Answer::record(201, &StoryProgress { order_number })
            })
        })
        .await?;
        let told: StoryProgress = serde_json::from_str(&answer.body).map_err(|_| Refusal::internal())?;
        Ok(told.order_number)
    }
}

/// Dice of their own for every order.
fn dice(seed: i64, n: i64) -> StdRng {
    let mut bytes = [0; 32];
    let (of_seed, of_n) = (seed.to_be_bytes(), n.to_be_bytes());
    bytes.iter_mut().zip(of_seed.into_iter().chain(of_n)).for_each(|(to, from)| *to = from);
    StdRng::from_seed(bytes)
}
