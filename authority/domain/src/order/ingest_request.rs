//! `POST /merchants/:m/:mode/orders`: an order from elsewhere, with the payments made on it (contract 6.2).

use rand_core::Rng;
use serde_json::Value;

use crate::body;
use crate::body::shared_members::{address, customer, failure, past};
use crate::body::{Members, Text, occurrence};
use crate::bounds::MONEY_MAX;
use crate::id::PaymentId;
use crate::order::basket::{Basket, GivenAmounts, Priced};
use crate::order::payment_room::PAYMENTS_MAX;
use crate::order::{NewOrder, OrderSource};
use crate::order_number::OrderNumber;
use crate::parts::{Address, Customer, Metadata, Money};
use crate::payment::{
    CaptureMethod, Method, NewPayment, PaymentReport, PaymentStatus, PaymentTarget, Processor, read_method,
    read_processor,
};
use crate::refusal::{MemberCode, Result};
use crate::time::Timestamp;

/// A payment that an order comes with.
#[derive(Clone, Debug)]
pub struct PaymentMade {
    /// The payment.
    pub new: NewPayment,
    /// How far it has come; `None`: it was only started.
    pub report: Option<PaymentReport>,
}

/// Where an ingested order may say it comes from.
const SOURCES: [OrderSource; 3] = [OrderSource::Pos, OrderSource::Import, OrderSource::Api];

/// How far a payment may have come that an order brings along; refunds are told afterwards.
const STATUSES: [PaymentStatus; 6] = [
    PaymentStatus::Created,
    PaymentStatus::Pending,
    PaymentStatus::Authorized,
    PaymentStatus::Succeeded,
    PaymentStatus::Failed,
    PaymentStatus::Cancelled,
];

/// `POST /merchants/:m/:mode/orders`.
#[derive(Clone, Debug)]
pub struct OrderRequest {
    /// The operator's own number; `None`: generated.
    pub order_number: Option<OrderNumber>,
    basket: Basket,
    amounts: GivenAmounts,
    customer: Option<Customer>,
    billing_address: Option<Address>,
    shipping_address: Option<Address>,
    source: OrderSource,
    placed_at: Option<Timestamp>,
    metadata: Metadata,
    payments: Vec<PaymentRequest>,
}

#[derive(Clone, Debug)]
struct PaymentRequest {
    amount: Money,
    currency: Option<String>,
    status: PaymentStatus,
    capture_method: CaptureMethod,
    method: Method,
    processor: Processor,
    processor_event_id: String,
    report: PaymentReport,
    metadata: Metadata,
}

impl OrderRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value, now: Timestamp) -> Result<Self> {
        body::read(body, |m| {
            m.not_writable(
                "status payment_status fulfillment_status payment_summary payment_ids checkout_id \
                subscription_id external_references livemode merchant",
            );
            let number = OrderNumber::from_store(String::new());
            let placed_at = past(m, "placed_at", now);
            Self {
                order_number: m
                    .parsed("order_number", Text::line(1, 64), "an order number", number, OrderNumber::parse)
                    .optional(),
                basket: Basket::read(m),
                amounts: m.object("amounts", GivenAmounts::read).or(GivenAmounts::default()),
                customer: m.object("customer", customer).optional(),
                billing_address: m.object("billing_address", address).optional(),
                shipping_address: m.object("shipping_address", address).optional(),
                source: m.one_of_these("source", &SOURCES).or(OrderSource::Api),
                placed_at,
                metadata: m.metadata("metadata").or(Metadata::new()),
                payments: m
                    .array("payments", 0..=PAYMENTS_MAX, |m| payment(m, placed_at, now))
                    .or(Vec::new()),
            }
        })
    }

    /// The processors' names and ids of the events that the payments stand for, in their order.
    #[must_use]
    pub fn processor_events(&self) -> Vec<(String, String)> {
        let name = |payment: &PaymentRequest| payment.processor.name.clone();
        self.payments.iter().map(|payment| (name(payment), payment.processor_event_id.clone())).collect()
    }

    /// Gives ids and computes the sums. `number` is the order's, the operator's own or a generated one.
    ///
    /// # Errors
    /// 422 `validation_failed` when a sum leaves its range, a discount exceeds what it is taken from, or `amounts` says
    /// otherwise than the lines.
    pub fn into_new(
        self,
        number: OrderNumber,
        now: Timestamp,
        dice: &mut dyn Rng,
    ) -> Result<(NewOrder, Vec<PaymentMade>)> {
        let order_currency = self.basket.currency().to_owned();
        let Priced { currency, line_items, amounts } = self.basket.priced_as(self.amounts, now, dice)?;
        let payments = self
            .payments
            .into_iter()
            .map(|payment| payment.into_made(&number, &order_currency, PaymentId::generate(now, dice)))
            .collect();
        let order = NewOrder {
            order_number: number,
            currency,
            amounts,
            line_items,
            customer: self.customer,
            billing_address: self.billing_address,
            shipping_address: self.shipping_address,
            checkout_id: None,
            subscription_id: None,
            source: self.source,
            placed_at: self.placed_at.unwrap_or(now),
            metadata: self.metadata,
        };
        Ok((order, payments))
    }
}

impl PaymentRequest {
    fn into_made(self, order: &OrderNumber, order_currency: &str, id: PaymentId) -> PaymentMade {
        let new = NewPayment {
            id,
            target: PaymentTarget::Order(order.clone()),
            currency: self.currency.unwrap_or_else(|| order_currency.to_owned()),
            amount: self.amount,
            capture_method: self.capture_method,
            method: self.method,
            processor: self.processor,
            metadata: self.metadata,
        };
        PaymentMade { new, report: (self.status != PaymentStatus::Created).then_some(self.report) }
    }
}

/// A payment of an order from elsewhere is as old as the order.
fn payment(m: &mut Members<'_>, placed_at: Option<Timestamp>, now: Timestamp) -> PaymentRequest {
    let status = m.one_of_these("status", &STATUSES).or(PaymentStatus::Succeeded);
    let occurred_at = past(m, "occurred_at", now);
    if occurred_at.is_some_and(|at| occurrence::is_before(at, placed_at.unwrap_or(now))) {
        let detail = "must not be more than 24 hours before the order was placed";
        m.refuse("occurred_at", MemberCode::OutOfRange, detail);
    }
    let amount = m.integer("amount", 1..=MONEY_MAX).required();
    let (amount_authorized, amount_captured) = amounts(m, status, amount);
    PaymentRequest {
        amount,
        currency: m.currency("currency").optional(),
        status,
        capture_method: m.one_of("capture_method").or(CaptureMethod::Automatic),
        method: m.object("method", read_method).required(),
        processor: m.object("processor", read_processor).required(),
        processor_event_id: m.string("processor_event_id", Text::LINE).required(),
        report: PaymentReport {
            status,
            amount_authorized,
            amount_captured,
            failure: m.object("failure", failure).optional(),
            occurred_at,
            processor_reference: None,
        },
        metadata: m.metadata("metadata").or(Metadata::new()),
    }
}

/// What was authorized and captured, each within what was asked for.
fn amounts(m: &mut Members<'_>, status: PaymentStatus, amount: Money) -> (Option<Money>, Option<Money>) {
    let authorized = m.money("amount_authorized").optional();
    let captured = m.money("amount_captured").optional();
    for (name, told) in [("amount_authorized", authorized), ("amount_captured", captured)] {
        if told.is_some_and(|told| told > amount) {
            let detail = format!("must be at most {amount}, the amount of the payment");
            m.refuse(name, MemberCode::OutOfRange, detail);
        }
    }
    let holds = matches!(status, PaymentStatus::Authorized | PaymentStatus::Succeeded);
    if !holds && authorized.is_some_and(|told| told > 0) {
        let detail = format!("nothing is authorized of a payment that is {status}");
        m.refuse("amount_authorized", MemberCode::Inconsistent, detail);
    }
    (authorized, captured)
}
