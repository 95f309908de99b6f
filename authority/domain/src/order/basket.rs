//! What is bought and what it costs: the members that checkouts and orders share (contract 2.1, I4).
//!
//! The operator gives lines with prices, and discount, shipping and its tax for the whole; the authority makes ids
//! and sums. Where the sums are given as well (`amounts` of an ingested order), they supply what is not given
//! otherwise, and all of them must agree with the lines.

use rand_core::Rng;

use crate::body::Members;
use crate::body::shared_members::{LineRequest, line};
use crate::bounds::MONEY_MAX;
use crate::id::LineItemId;
use crate::parts::{Amounts, LineItem, Money};
use crate::refusal::{MemberCode, MemberError, Refusal, Result};
use crate::time::Timestamp;

/// The members, read one by one.
#[derive(Clone, Debug)]
pub(crate) struct Basket {
    currency: String,
    lines: Vec<LineRequest>,
    discount: Option<Money>,
    shipping: Option<Money>,
    shipping_tax: Option<Money>,
}

/// The sums as the operator knows them; each may be left out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GivenAmounts {
    subtotal: Option<Money>,
    discount: Option<Money>,
    shipping: Option<Money>,
    tax: Option<Money>,
    total: Option<Money>,
}

/// Lines with ids and sums.
#[derive(Clone, Debug)]
pub(crate) struct Priced {
    pub(crate) currency: String,
    pub(crate) line_items: Vec<LineItem>,
    pub(crate) amounts: Amounts,
}

impl GivenAmounts {
    /// Reads `amounts`.
    pub(crate) fn read(m: &mut Members<'_>) -> Self {
        Self {
            subtotal: m.money("subtotal").optional(),
            discount: m.money("discount").optional(),
            shipping: m.money("shipping").optional(),
            tax: m.money("tax").optional(),
            total: m.money("total").optional(),
        }
    }

    /// Every given sum that is not the one of the lines.
    fn disagreements(self, amounts: &Amounts) -> Vec<MemberError> {
        let pairs = [
            ("subtotal", self.subtotal, amounts.subtotal),
            ("discount", self.discount, amounts.discount),
            ("shipping", self.shipping, amounts.shipping),
            ("tax", self.tax, amounts.tax),
            ("total", self.total, amounts.total),
        ];
        pairs
            .into_iter()
            .filter(|(_, given, sum)| given.is_some_and(|given| given != *sum))
            .map(|(member, _, sum)| {
                let detail = format!("Expected {sum} from the other members.");
                MemberError::new(format!("/amounts/{member}"), MemberCode::Inconsistent, detail)
            })
            .collect()
    }
}

impl Basket {
    /// Reads the members.
    pub(crate) fn read(m: &mut Members<'_>) -> Self {
        Self {
            currency: m.currency("currency").required(),
            lines: m.array("line_items", 1..=100, line).required(),
            discount: m.money("discount").optional(),
            shipping: m.money("shipping").optional(),
            shipping_tax: m.money("shipping_tax").optional(),
        }
    }

    /// The currency of everything.
    pub(crate) fn currency(&self) -> &str {
        &self.currency
    }

    /// Gives ids and computes the sums.
    ///
    /// # Errors
    /// 422 `validation_failed` when a sum leaves its range or a discount exceeds what it is taken from.
    pub(crate) fn priced(self, now: Timestamp, dice: &mut dyn Rng) -> Result<Priced> {
        self.priced_as(GivenAmounts::default(), now, dice)
    }

    /// The same where sums are given. The order's discount, shipping and shipping tax are taken from `given` where
    /// they are not given otherwise.
    ///
    /// # Errors
    /// As [`Basket::priced`]; 422 with `inconsistent` for every sum that is another one.
    pub(crate) fn priced_as(self, given: GivenAmounts, now: Timestamp, dice: &mut dyn Rng) -> Result<Priced> {
        let line_items = priced_lines(self.lines, "/line_items", now, dice)?;
        // A hundred lines of at most 10^12 each.
        let on_lines = |part: fn(&LineItem) -> Money| line_items.iter().map(part).sum::<Money>();
        let rest = |given: Option<Money>, on_lines: Money| given.map_or(0, |sum| (sum - on_lines).max(0));
        let discount = self.discount.unwrap_or(rest(given.discount, on_lines(|line| line.discount_amount)));
        let shipping = self.shipping.or(given.shipping).unwrap_or(0);
        let tax = self.shipping_tax.unwrap_or(rest(given.tax, on_lines(|line| line.tax_amount)));
        let amounts = Amounts::sum(&line_items, discount, shipping, tax).ok_or_else(|| {
            let detail = format!("every sum must lie between 0 and {MONEY_MAX}");
            Refusal::member("/line_items", MemberCode::OutOfRange, detail)
        })?;
        Refusal::check(given.disagreements(&amounts))?;
        Ok(Priced { currency: self.currency, line_items, amounts })
    }
}

/// Gives the lines of the array at `pointer` ids and sums.
///
/// # Errors
/// 422 `validation_failed` when a sum leaves its range or a discount exceeds what it is taken from.
pub(crate) fn priced_lines(
    lines: Vec<LineRequest>,
    pointer: &str,
    now: Timestamp,
    dice: &mut dyn Rng,
) -> Result<Vec<LineItem>> {
    let mut line_items = Vec::with_capacity(lines.len());
    for (index, line) in lines.into_iter().enumerate() {
        line_items.push(priced_line(line, &format!("{pointer}/{index}"), LineItemId::generate(now, dice))?);
    }
    Ok(line_items)
}

fn priced_line(line: LineRequest, pointer: &str, id: LineItemId) -> Result<LineItem> {
    let wrong = |member: &str, detail: String| {
        Refusal::member(format!("{pointer}/{member}"), MemberCode::OutOfRange, detail)
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
