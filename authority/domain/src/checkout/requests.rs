//! `POST /merchants/:m/:mode/checkouts` (contract 6.2, 2.7).

use rand_core::Rng;
use serde_json::Value;

use crate::body;
use crate::body::Members;
use crate::body::shared_members::{address, customer};
use crate::checkout::{CheckoutMode, NewCheckout};
use crate::id::CheckoutId;
use crate::order::{Basket, Priced};
use crate::parts::{Address, Customer, Metadata};
use crate::refusal::{MemberCode, Refusal, Result};
use crate::subscription::TermsRequest;
use crate::time::Timestamp;

/// How long a checkout stays open by default (contract 2.7).
const DEFAULT_LIFE_MS: i64 = 24 * 60 * 60 * 1000;
/// The shortest and the longest life.
const LIFE_MS: std::ops::RangeInclusive<i64> = 5 * 60 * 1000..=30 * 24 * 60 * 60 * 1000;

/// A checkout to be opened.
#[derive(Clone, Debug)]
pub struct CheckoutRequest {
    basket: Basket,
    customer: Option<Customer>,
    billing_address: Option<Address>,
    shipping_address: Option<Address>,
    success_url: Option<String>,
    cancel_url: Option<String>,
    expires_at: Option<Timestamp>,
    metadata: Metadata,
    subscription: Option<TermsRequest>,
}

impl CheckoutRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| {
            m.not_writable("id status amounts order_number payment_id livemode merchant");
            let mode = m.one_of("mode").or(CheckoutMode::Payment);
            let request = Self {
                basket: Basket::read(m),
                customer: m.object("customer", customer).optional(),
                billing_address: m.object("billing_address", address).optional(),
                shipping_address: m.object("shipping_address", address).optional(),
                success_url: m.https_url("success_url").optional(),
                cancel_url: m.https_url("cancel_url").optional(),
                expires_at: m.time("expires_at").optional(),
                metadata: m.metadata("metadata").or(Metadata::new()),
                subscription: m.object("subscription", TermsRequest::read).optional(),
            };
            request.check_mode(mode, m);
            request
        })
    }

    /// Mode `subscription` needs terms and a customer; mode `payment` has no terms.
    fn check_mode(&self, mode: CheckoutMode, m: &mut Members<'_>) {
        match (mode, &self.subscription) {
            (CheckoutMode::Subscription, None) => {
                m.refuse("subscription", MemberCode::Required, "Mode subscription needs its terms.");
            }
            (CheckoutMode::Payment, Some(_)) => {
                m.refuse("subscription", MemberCode::Inconsistent, "Belongs to mode subscription.");
            }
            _ => {}
        }
        if mode == CheckoutMode::Subscription && self.customer.is_none() {
            m.refuse("customer", MemberCode::Required, "Mode subscription needs a customer.");
        }
    }

    /// Gives ids and computes the sums.
    ///
    /// # Errors
    /// 422 `validation_failed` when a sum leaves its range, a discount exceeds what it is taken from, or the checkout
    /// would not live between 5 minutes and 30 days.
    pub fn into_new(self, now: Timestamp, dice: &mut dyn Rng) -> Result<NewCheckout> {
        let expires_at = self.expires_at.unwrap_or(now.plus_ms(DEFAULT_LIFE_MS));
        if !LIFE_MS.contains(&(expires_at.as_ms() - now.as_ms())) {
            let detail = "must lie between 5 minutes and 30 days from now";
            return Err(Refusal::member("/expires_at", MemberCode::OutOfRange, detail));
        }
        let Priced { currency, line_items, amounts } = self.basket.priced(now, dice)?;
        let subscription =
            self.subscription.map(|terms| terms.into_terms(&line_items, now, dice)).transpose()?;
        Ok(NewCheckout {
            id: CheckoutId::generate(now, dice),
            currency,
            amounts,
            line_items,
            customer: self.customer,
            billing_address: self.billing_address,
            shipping_address: self.shipping_address,
            success_url: self.success_url,
            cancel_url: self.cancel_url,
            expires_at,
            metadata: self.metadata,
            subscription,
        })
    }
}
