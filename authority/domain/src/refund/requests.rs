//! `POST /orders/:order/refunds`, `POST /payments/:id/refunds` and `POST /refunds/:id/reports` (contract 4.8, 6.2,
//! 18.3).

use serde_json::Value;

use crate::body;
use crate::body::shared_members::failure;
use crate::body::{Members, Text};
use crate::bounds::MONEY_MAX;
use crate::id::{LineItemId, PaymentId};
use crate::parts::{Metadata, Money};
use crate::refund::{NewRefund, RefundLine, RefundReason, RefundReport, RefundStatus};
use crate::refusal::{MemberCode, Result};

/// Members of the record that a request for a refund cannot write.
const NOT_WRITABLE: &str = "id order_number status requested_by processor_reference failure livemode";
/// The same where the path names the payment.
const OF_PAYMENT_NOT_WRITABLE: &str = "\
    id order_number payment_id status requested_by processor_reference failure livemode";

impl NewRefund {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        Self::read_with(body, |m| {
            m.not_writable(NOT_WRITABLE);
            // Any text may be given: what is no payment of this order is refused with its pointer.
            m.string("payment_id", Text::ID).map(PaymentId::from_store).optional()
        })
    }

    /// Reads the body of a request for a refund of this payment.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read_of_payment(body: &Value, payment: &PaymentId) -> Result<Self> {
        Self::read_with(body, |m| {
            m.not_writable(OF_PAYMENT_NOT_WRITABLE);
            Some(payment.clone())
        })
    }

    fn read_with(
        body: &Value,
        payment_id: impl FnOnce(&mut Members<'_>) -> Option<PaymentId>,
    ) -> Result<Self> {
        body::read(body, |m| {
            let new = NewRefund {
                payment_id: payment_id(m),
                amount: m.integer("amount", 1..=MONEY_MAX).optional(),
                currency: m.currency("currency").optional(),
                reason: m.one_of("reason").or(RefundReason::RequestedByCustomer),
                note: m.string("note", Text::NOTE).optional(),
                line_items: m.array("line_items", 0..=100, line).or(Vec::new()),
                metadata: m.metadata("metadata").or(Metadata::new()),
            };
            if let Some(amount) = new.amount
                && !new.line_items.is_empty()
                && sum(&new.line_items) != amount
            {
                let detail = format!("the amounts must add up to {amount}");
                m.refuse("line_items", MemberCode::Inconsistent, detail);
            }
            new
        })
    }
}

fn line(m: &mut Members<'_>) -> RefundLine {
    RefundLine {
        line_item_id: m.string("line_item_id", Text::ID).map(LineItemId::from_store).required(),
        quantity: m.integer("quantity", 1..=100_000).required(),
        amount: m.money("amount").required(),
    }
}

/// At most a hundred amounts within [`MONEY_MAX`]: far from the end of the type.
fn sum(lines: &[RefundLine]) -> Money {
    lines.iter().map(|line| line.amount).sum()
}

/// A processor's report about a refund.
#[derive(Clone, Debug)]
pub struct RefundReportRequest {
    /// Unique per processor, for ever: a repeated report changes nothing.
    pub processor_event_id: String,
    /// What is reported.
    pub report: RefundReport,
}

/// What a report may say.
const REPORTABLE: [RefundStatus; 3] =
    [RefundStatus::Processing, RefundStatus::Completed, RefundStatus::Failed];

impl RefundReportRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| {
            let request = Self {
                processor_event_id: m.string("processor_event_id", Text::LINE).required(),
                report: RefundReport {
                    status: m.one_of_these("status", &REPORTABLE).required(),
                    processor_reference: m.string("processor_reference", Text::LINE).optional(),
                    failure: m.object("failure", failure).optional(),
                },
            };
            if request.report.failure.is_some() && request.report.status != RefundStatus::Failed {
                m.refuse("failure", MemberCode::Inconsistent, "belongs to the status failed");
            }
            request
        })
    }
}
