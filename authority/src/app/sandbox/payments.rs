//! Payment attempts in the sandbox: the platform starts one, and the processor reports its outcome at once
//! (contract 3.9 rows 2 to 5 and 7a, 6.3).

use authority_domain::parts::Money;
use authority_domain::payment::{CaptureMethod, PaymentReportRequest, PaymentRequest};
use authority_domain::sandbox::requests::{PayOutcome, PayRequest};
use authority_domain::{Checkout, Order, Payment, PaymentStatus, Refusal, Result, order};
use serde_json::{Map, Value, json};

use super::{PROCESSOR, processor_event_id};
use crate::app::{Owner, Work, payment};

/// The amount that an attempt is to pay.
pub(super) struct Owed {
    member: &'static str,
    id: String,
    amount: Money,
    currency: String,
}

impl Owed {
    /// The whole amount of a checkout.
    pub(super) fn of_checkout(checkout: &Checkout) -> Result<Self> {
        let status = checkout.status.as_str();
        Self::some("checkout_id", checkout.id.as_str(), checkout.amounts.total, &checkout.currency, status)
    }

    /// The amount of an order that is neither paid nor about to be paid.
    pub(super) fn of_order(order: &Order, payments: &[Payment]) -> Result<Self> {
        let room = order::payment_room::room(order.amounts.total, payments);
        let status = order.payment_status.as_str();
        Self::some("order_number", order.order_number.as_str(), room, &order.currency, status)
    }

    fn some(member: &'static str, id: &str, amount: Money, currency: &str, status: &str) -> Result<Self> {
        if amount == 0 {
            let asked = PaymentStatus::Pending.as_str();
            return Err(Refusal::transition(status, asked, "There is nothing to pay."));
        }
        Ok(Self { member, id: id.to_owned(), amount, currency: currency.to_owned() })
    }
}

/// Starts an attempt and reports its outcome; returns the payment as it is then.
pub(super) async fn attempt(
    work: &mut Work<'_>,
    owner: &Owner,
    owed: &Owed,
    pay: &PayRequest,
) -> Result<Payment> {
    let capture_method = match pay.outcome {
        PayOutcome::Authorized => CaptureMethod::Manual,
        _ => CaptureMethod::Automatic,
    };
    let start = json!({
        owed.member: owed.id,
        "amount": owed.amount,
        "currency": owed.currency,
        "capture_method": capture_method,
        "method": pay.method_body(),
        "processor": { "name": PROCESSOR },
        "processor_event_id": processor_event_id(work),
    });
    let payment = payment::create::start(work, owner, PaymentRequest::read(&start)?).await?;
    Ok(report(work, owner, payment, pay.report()).await?.1)
}

/// Reports on a payment as the processor; returns whether it changed, and the payment as it is then.
pub(super) async fn report(
    work: &mut Work<'_>,
    owner: &Owner,
    payment: Payment,
    mut reported: Map<String, Value>,
) -> Result<(bool, Payment)> {
    reported.insert("processor_event_id".to_owned(), json!(processor_event_id(work)));
    let request = PaymentReportRequest::read(&Value::Object(reported), work.now)?;
    payment::reports::report(work, owner, payment, request).await
}
