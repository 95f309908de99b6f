//! `POST /merchants/:m/:mode/checkouts` (contract 6.2, 2.7).

use rand_core::Rng;
use serde_json::Value;

use super::parts::{LineRequest, address, customer, line};
use crate::checkout::{CheckoutMode, NewCheckout};
use crate::id::{CheckoutId, LineItemId};
use crate::members;
use crate::parts::{Address, Amounts, Customer, LineItem, MONEY_MAX, Metadata, Money};
use crate::refusal::{MemberCode, Refusal};
use crate::time::Timestamp;

/// How long a checkout stays open when nobody says otherwise (contract 2.7).
const DEFAULT_LIFE_MS: i64 = 24 * 60 * 60 * 1000;
/// The shortest and the longest life.
const LIFE_MS: std::ops::RangeInclusive<i64> = 5 * 60 * 1000..=30 * 24 * 60 * 60 * 1000;

/// A checkout to be opened.
#[derive(Clone, Debug)]
pub struct CheckoutRequest {
    currency: String,
    lines: Vec<LineRequest>,
    discount: Money,
    shipping: Money,
    shipping_tax: Money,
    customer: Option<Customer>,
    billing_address: Option<Address>,
    shipping_address: Option<Address>,
    success_url: Option<String>,
    cancel_url: Option<String>,
    expires_at: Option<Timestamp>,
    metadata: Metadata,
}

impl CheckoutRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self, Refusal> {
        members::read(body, |m| {
            m.not_writable(&[
                "id",
                "status",
                "amounts",
                "order_number",
                "payment_id",
                "livemode",
                "merchant",
            ]);
            m.one_of_these("mode", &[CheckoutMode::Payment]).optional();
            Self {
                currency: m.currency("currency").required(),
                lines: m.array("line_items", 1..=100, line).required(),
                discount: m.money("discount").or(0),
                shipping: m.money("shipping").or(0),
                shipping_tax: m.money("shipping_tax").or(0),
                customer: m.object("customer", customer).optional(),
                billing_address: m.object("billing_address", address).optional(),
                shipping_address: m.object("shipping_address", address).optional(),
                success_url: m.https_url("success_url").optional(),
                cancel_url: m.https_url("cancel_url").optional(),
                expires_at: m.time("expires_at").optional(),
                metadata: m.metadata("metadata").or(Metadata::new()),
            }
        })
    }

    /// Gives ids and computes the sums.
    ///
    /// # Errors
    /// 422 `validation_failed` when a sum leaves its range, a discount exceeds what it is taken from, or the checkout
    /// would not live between 5 minutes and 30 days.
    pub fn into_new(self, now: Timestamp, dice: &mut dyn Rng) -> Result<NewCheckout, Refusal> {
        let expires_at = self.expires_at.unwrap_or(now.plus_ms(DEFAULT_LIFE_MS));
        if !LIFE_MS.contains(&(expires_at.as_ms() - now.as_ms())) {
            let detail = "must lie between 5 minutes and 30 days from now";
            return Err(Refusal::member("/expires_at", MemberCode::OutOfRange, detail));
        }
        let mut line_items = Vec::with_capacity(self.lines.len());
        for (index, line) in self.lines.into_iter().enumerate() {
            line_items.push(priced(line, index, LineItemId::generate(now, dice))?);
        }
        let amounts =
            Amounts::sum(&line_items, self.discount, self.shipping, self.shipping_tax).ok_or_else(|| {
                let detail = format!("every sum must lie between 0 and {MONEY_MAX}");
                Refusal::member("/line_items", MemberCode::OutOfRange, detail)
            })?;
        Ok(NewCheckout {
            id: CheckoutId::generate(now, dice),
            currency: self.currency,
            amounts,
            line_items,
            customer: self.customer,
            billing_address: self.billing_address,
            shipping_address: self.shipping_address,
            success_url: self.success_url,
            cancel_url: self.cancel_url,
            expires_at,
            metadata: self.metadata,
        })
    }
}

fn priced(line: LineRequest, index: usize, id: LineItemId) -> Result<LineItem, Refusal> {
    let wrong = |member: &str, detail: String| {
        Refusal::member(format!("/line_items/{index}/{member}"), MemberCode::OutOfRange, detail)
    };
    // quantity ≤ 10^5 and unit_amount < 10^12: the product fits.
    let subtotal = line.quantity * line.unit_amount;
    if subtotal > MONEY_MAX {
        return Err(wrong("unit_amount", format!("times the quantity must not exceed {MONEY_MAX}")));
    }
    if line.discount_amount > subtotal {
        return Err(wrong("discount_amount", format!("must not exceed the line's subtotal, {subtotal}")));
    }
    let total = subtotal - line.discount_amount + line.tax_amount;
    if total > MONEY_MAX {
        return Err(wrong("tax_amount", format!("must not raise the line's total above {MONEY_MAX}")));
    }
    Ok(LineItem {
        id,
        sku: line.sku,
        name: line.name,
        quantity: line.quantity,
        unit_amount: line.unit_amount,
        subtotal_amount: subtotal,
        discount_amount: line.discount_amount,
        tax_amount: line.tax_amount,
        total_amount: total,
        requires_shipping: line.requires_shipping,
        metadata: line.metadata,
    })
}
