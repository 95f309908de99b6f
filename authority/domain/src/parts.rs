//! Parts that several records share: amounts, addresses, customers, line items (contract 2.1).

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::bounds::MONEY_MAX;
use crate::id::LineItemId;

/// A count of minor units of a currency, `0 ..= MONEY_MAX`.
pub type Money = i64;

/// Free key–value pairs; at most 50 (contract 1).
pub type Metadata = BTreeMap<String, String>;

/// The five sums of an order or a checkout. `total = subtotal − discount + shipping + tax ≥ 0` (contract 3.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Amounts {
    /// Σ of the lines' `subtotal_amount`.
    pub subtotal: Money,
    /// Σ of the lines' discounts and the discount on the whole order.
    pub discount: Money,
    /// What shipping costs, before tax.
    pub shipping: Money,
    /// Σ of the lines' taxes and the tax on shipping.
    pub tax: Money,
    /// What is to be paid.
    pub total: Money,
}

impl Amounts {
    /// Sums the lines and the order-level parts. `None` when a sum leaves `0 ..= MONEY_MAX`.
    #[must_use]
    pub fn sum(
        lines: &[LineItem],
        order_discount: Money,
        shipping: Money,
        shipping_tax: Money,
    ) -> Option<Self> {
        let subtotal = total_of(lines, |line| line.subtotal_amount)?;
        let discount = total_of(lines, |line| line.discount_amount)?.checked_add(order_discount)?;
        let tax = total_of(lines, |line| line.tax_amount)?.checked_add(shipping_tax)?;
        let total = subtotal.checked_sub(discount)?.checked_add(shipping)?.checked_add(tax)?;
        let amounts = Self { subtotal, discount, shipping, tax, total };
        [subtotal, discount, shipping, tax, total]
            .iter()
            .all(|m| (0..=MONEY_MAX).contains(m))
            .then_some(amounts)
    }
}

fn total_of(lines: &[LineItem], part: fn(&LineItem) -> Money) -> Option<Money> {
    lines.iter().try_fold(0, |sum: Money, line| sum.checked_add(part(line)))
}

/// A postal address; every member is always present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("postal_code": Text(32), "phone": Text(32)))
)]
pub struct Address {
    /// Who receives it.
    pub name: Option<String>,
    /// Where the recipient is to be found, if at a company.
    pub company: Option<String>,
    /// First line; the only free text that is required.
    pub line1: String,
    /// Second line.
    pub line2: Option<String>,
    /// Town or city.
    pub city: Option<String>,
    /// State or province.
    pub region: Option<String>,
    /// Postal code, at most 32 characters.
    pub postal_code: Option<String>,
    /// ISO 3166-1 alpha-2, uppercase.
    pub country: String,
    /// Telephone, at most 32 characters.
    pub phone: Option<String>,
}

/// The buyer, embedded; there is no customer resource.
// The default is a buyer of whom nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("email": Text(254)))
)]
pub struct Customer {
    /// The platform's own customer id, opaque.
    pub reference: Option<String>,
    /// At most 254 characters with exactly one `@`.
    pub email: Option<String>,
    /// For people.
    pub name: Option<String>,
    /// Telephone.
    pub phone: Option<String>,
    /// BCP 47 tag.
    pub locale: Option<String>,
}

/// A code from outside and a sentence that is safe to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// The processor's or carrier's code.
    pub code: String,
    /// For people.
    pub message: Option<String>,
}

/// One line of a checkout, without fulfilment quantities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("quantity": Between(1, 100_000)))
)]
pub struct LineItem {
    /// Stable from the checkout to the end of the order.
    pub id: LineItemId,
    /// Stock keeping unit.
    pub sku: Option<String>,
    /// What is sold.
    pub name: String,
    /// 1 – 100,000.
    pub quantity: i64,
    /// Price of one, in minor units.
    pub unit_amount: Money,
    /// `unit_amount × quantity`.
    pub subtotal_amount: Money,
    /// At most the subtotal.
    pub discount_amount: Money,
    /// Tax on this line.
    pub tax_amount: Money,
    /// `subtotal − discount + tax`.
    pub total_amount: Money,
    /// `false` for digital goods and services.
    pub requires_shipping: bool,
    /// Free key-value pairs, written by the operator; at most 50.
    pub metadata: Metadata,
}

/// One line of an order. `0 ≤ delivered ≤ shipped ≤ fulfilled ≤ quantity` (contract 3.11).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("quantity": Between(1, 100_000)))
)]
pub struct OrderLine {
    /// Stable for the life of the order.
    pub id: LineItemId,
    /// Stock keeping unit.
    pub sku: Option<String>,
    /// What is sold.
    pub name: String,
    /// 1 – 100,000.
    pub quantity: i64,
    /// Price of one, in minor units.
    pub unit_amount: Money,
    /// `unit_amount × quantity`.
    pub subtotal_amount: Money,
    /// At most the subtotal.
    pub discount_amount: Money,
    /// Tax on this line.
    pub tax_amount: Money,
    /// `subtotal − discount + tax`.
    pub total_amount: Money,
    /// `false` for digital goods and services.
    pub requires_shipping: bool,
    /// Prepared, or handed to logistics.
    pub fulfilled_quantity: i64,
    /// With the carrier; 0 when nothing is to be shipped.
    pub shipped_quantity: i64,
    /// At the customer.
    pub delivered_quantity: i64,
    /// Free key-value pairs, written by the operator; at most 50.
    pub metadata: Metadata,
}

impl From<&LineItem> for OrderLine {
    fn from(line: &LineItem) -> Self {
        let line = line.clone();
        Self {
            id: line.id,
            sku: line.sku,
            name: line.name,
            quantity: line.quantity,
            unit_amount: line.unit_amount,
            subtotal_amount: line.subtotal_amount,
            discount_amount: line.discount_amount,
            tax_amount: line.tax_amount,
            total_amount: line.total_amount,
            requires_shipping: line.requires_shipping,
            fulfilled_quantity: 0,
            shipped_quantity: 0,
            delivered_quantity: 0,
            metadata: line.metadata,
        }
    }
}
