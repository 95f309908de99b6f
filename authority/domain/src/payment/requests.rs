//! `POST /merchants/:m/:mode/payments` and `POST /payments/:id/reports` (contract 6.2, 2.3, 3.5).

use rand_core::Rng;
use serde_json::Value;

use crate::body;
use crate::body::shared_members::{failure, party_name, past};
use crate::body::{Members, Text, occurrence};
use crate::id::{CheckoutId, PaymentId, SubscriptionId};
use crate::order_number::OrderNumber;
use crate::parts::{Metadata, Money};
use crate::payment::{
    CaptureMethod, Method, MethodType, NewPayment, Payment, PaymentReport, PaymentStatus, PaymentTarget,
    Processor,
};
use crate::refusal::{MemberCode, Refusal, Result};
use crate::time::Timestamp;

/// An attempt to pay a checkout, an order, or the latest order of a subscription.
#[derive(Clone, Debug)]
pub struct PaymentRequest {
    /// What it is to pay for.
    pub target: PaymentTarget,
    /// The processor's id of the event that this request stands for; unique per processor, for ever.
    pub processor_event_id: String,
    currency: String,
    amount: Money,
    capture_method: CaptureMethod,
    method: Method,
    processor: Processor,
    metadata: Metadata,
}

impl PaymentRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| {
            m.not_writable("id status amount_authorized amount_captured amount_refunded livemode");
            Self {
                target: target(m),
                processor_event_id: m.string("processor_event_id", Text::LINE).required(),
                currency: m.currency("currency").required(),
                amount: m.integer("amount", 1..=crate::bounds::MONEY_MAX).required(),
                capture_method: m.one_of("capture_method").or(CaptureMethod::Automatic),
                method: m.object("method", read_method).required(),
                processor: m.object("processor", read_processor).required(),
                metadata: m.metadata("metadata").or(Metadata::new()),
            }
        })
    }

    /// Whether `payment` is what this request asks for.
    #[must_use]
    pub fn is_start_of(&self, payment: &Payment) -> bool {
        let same_target = match &self.target {
            PaymentTarget::Checkout(id) => payment.checkout_id.as_ref() == Some(id),
            PaymentTarget::Order(number) => {
                payment.checkout_id.is_none() && payment.order_number.as_ref() == Some(number)
            }
            PaymentTarget::Subscription(id) => {
                payment.checkout_id.is_none() && payment.subscription_id.as_ref() == Some(id)
            }
        };
        same_target && payment.amount == self.amount && payment.currency == self.currency
    }

    /// The processor's name.
    #[must_use]
    pub fn processor_name(&self) -> &str {
        &self.processor.name
    }

    /// Gives the payment its id.
    #[must_use]
    pub fn into_new(self, now: Timestamp, dice: &mut dyn Rng) -> NewPayment {
        NewPayment {
            id: PaymentId::generate(now, dice),
            target: self.target,
            currency: self.currency,
            amount: self.amount,
            capture_method: self.capture_method,
            method: self.method,
            processor: self.processor,
            metadata: self.metadata,
        }
    }
}

/// Exactly one of the members that name a target.
fn target(m: &mut Members<'_>) -> PaymentTarget {
    let checkout = CheckoutId::from_store(String::new());
    let checkout = m.parsed("checkout_id", Text::ID, "a checkout id", checkout, CheckoutId::parse).optional();
    let order = OrderNumber::from_store(String::new());
    let order =
        m.parsed("order_number", Text::line(1, 64), "an order number", order, OrderNumber::parse).optional();
    let checkout = checkout.map(PaymentTarget::Checkout);
    let nobody = SubscriptionId::from_store(String::new());
    let subscription =
        m.parsed("subscription_id", Text::ID, "a subscription id", nobody, SubscriptionId::parse).optional();
    let given = [checkout, order.map(PaymentTarget::Order), subscription.map(PaymentTarget::Subscription)];
    let mut given = given.into_iter().flatten();
    let (first, second) = (given.next(), given.next());
    if let Some(second) = second {
        let name = match second {
            PaymentTarget::Subscription(_) => "subscription_id",
            _ => "order_number",
        };
        m.refuse(name, MemberCode::Inconsistent, "Only one target of a payment may be given.");
    }
    first.unwrap_or_else(|| {
        let detail = "One of checkout_id, order_number and subscription_id is required.";
        m.refuse("checkout_id", MemberCode::Required, detail);
        PaymentTarget::Checkout(CheckoutId::from_store(String::new()))
    })
}

pub(crate) fn read_method(m: &mut Members<'_>) -> Method {
    let method = Method {
        kind: m.one_of("type").or(MethodType::Other),
        brand: m.string("brand", Text::line(1, 64)).optional(),
        last4: m.string("last4", Text::line(4, 4)).optional(),
    };
    if method.last4.as_ref().is_some_and(|digits| !digits.bytes().all(|b| b.is_ascii_digit())) {
        m.refuse("last4", MemberCode::InvalidValue, "must be four digits");
    }
    method
}

pub(crate) fn read_processor(m: &mut Members<'_>) -> Processor {
    Processor {
        name: party_name(m, "name").required(),
        reference: m.string("reference", Text::LINE).optional(),
    }
}

/// A processor's report about a payment.
#[derive(Clone, Debug)]
pub struct PaymentReportRequest {
    /// Unique per processor, for ever: a repeated report changes nothing.
    pub processor_event_id: String,
    /// The payment's, when the processor names it.
    pub currency: Option<String>,
    /// What is reported.
    pub report: PaymentReport,
}

/// What a report may say; refunds are reported on the refund.
const REPORTABLE: [PaymentStatus; 5] = [
    PaymentStatus::Pending,
    PaymentStatus::Authorized,
    PaymentStatus::Succeeded,
    PaymentStatus::Failed,
    PaymentStatus::Cancelled,
];

impl PaymentReportRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value, now: Timestamp) -> Result<Self> {
        body::read(body, |m| Self {
            processor_event_id: m.string("processor_event_id", Text::LINE).required(),
            currency: m.currency("currency").optional(),
            report: PaymentReport {
                status: m.one_of_these("status", &REPORTABLE).required(),
                amount_authorized: m.money("amount_authorized").optional(),
                amount_captured: m.money("amount_captured").optional(),
                failure: m.object("failure", failure).optional(),
                occurred_at: past(m, "occurred_at", now),
                processor_reference: m.string("processor_reference", Text::LINE).optional(),
            },
        })
    }

    /// Refuses a report in another currency than the payment's (contract 6.2, I1), and of what happened before there
    /// was the payment (contract 18.3).
    ///
    /// # Errors
    /// `validation_failed`; `currency_mismatch`.
    pub fn check(&self, payment: &Payment) -> Result<()> {
        occurrence::check(self.report.occurred_at, payment.created_at)?;
        let told = self.currency.as_deref().unwrap_or(&payment.currency);
        Refusal::check_currency("payment", &payment.currency, "report", told)
    }
}
