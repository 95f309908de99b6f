//! `POST /subscriptions/:id/reports` (contract 6.2, 3.8).

use rand_core::Rng;
use serde_json::Value;

use crate::body;
use crate::body::shared_members::{LineRequest, address, line, past};
use crate::body::{Members, Text};
use crate::id::LineItemId;
use crate::order::priced_lines;
use crate::order_number::OrderNumber;
use crate::refusal::{MemberCode, Result};
use crate::subscription::renewal::Renewal;
use crate::subscription::requests::{COUNTS, ITEMS, ItemRequest, item};
use crate::subscription::state_machine::SubscriptionReport;
use crate::subscription::{ReportedItem, SubscriptionStatus};
use crate::time::Timestamp;

/// An item of a report may say which one it goes on from.
fn reported_item(m: &mut Members<'_>) -> ItemRequest {
    let nobody = LineItemId::from_store(String::new());
    let id = m.parsed("id", Text::ID, "a line item id", nobody, LineItemId::parse).optional();
    item(m, id)
}

/// What the platform reports about a subscription.
#[derive(Clone, Debug)]
pub struct SubscriptionReportRequest {
    report: SubscriptionReport,
    items: Option<Vec<ItemRequest>>,
    lines: Option<Vec<LineRequest>>,
}

impl SubscriptionReportRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value, now: Timestamp) -> Result<Self> {
        body::read(body, |m| {
            m.not_writable(
                "id customer currency amount current_period_start current_period_end cancelled_at \
                latest_order_number metadata livemode",
            );
            let (renew, lines) = renew(m, body);
            let report = SubscriptionReport {
                status: m.one_of("status").optional(),
                trial_end: m.time("trial_end").optional(),
                renew,
                items: None,
                interval: m.one_of("interval").optional(),
                interval_count: m.integer("interval_count", COUNTS).optional(),
                cancel_at_period_end: m.boolean("cancel_at_period_end").optional(),
                cancel_reason: m.one_of("cancel_reason").optional(),
                occurred_at: past(m, "occurred_at", now),
                ahead_ms: 0,
            };
            let request = Self { report, items: m.array("items", ITEMS, reported_item).optional(), lines };
            request.check(m);
            request
        })
    }

    fn check(&self, m: &mut Members<'_>) {
        let SubscriptionReport { status, renew, cancel_reason, .. } = &self.report;
        let says = ["status", "renew", "items", "interval", "interval_count", "cancel_at_period_end"];
        if !says.iter().any(|name| m.has(name)) {
            m.refuse("", MemberCode::Required, format!("At least one of {} is required.", says.join(", ")));
        }
        let cancelled = *status == Some(SubscriptionStatus::Cancelled);
        if cancel_reason.is_some() && !cancelled {
            m.refuse("cancel_reason", MemberCode::Inconsistent, "Belongs to the status cancelled.");
        }
        if renew.is_some() && cancelled {
            m.refuse("renew", MemberCode::Inconsistent, "What is cancelled does not renew.");
        }
    }

    /// Gives ids and computes sums.
    ///
    /// # Errors
    /// 422 `validation_failed` when a sum leaves its range.
    pub fn into_report(self, now: Timestamp, dice: &mut dyn Rng) -> Result<SubscriptionReport> {
        let mut report = self.report;
        let reported = |request: ItemRequest| ReportedItem {
            known_as: request.id.clone(),
            item: request.into_item(now, dice),
        };
        report.items = self.items.map(|items| items.into_iter().map(reported).collect());
        if let (Some(renewal), Some(lines)) = (&mut report.renew, self.lines) {
            renewal.lines = Some(priced_lines(lines, "/renew/line_items", now, dice)?);
        }
        Ok(report)
    }
}

/// `true`, or an object with what is to be said about the period and its order; `false` asks for nothing.
fn renew(m: &mut Members<'_>, body: &Value) -> (Option<Renewal>, Option<Vec<LineRequest>>) {
    if body.get("renew").is_some_and(Value::is_boolean) {
        return (m.boolean("renew").or(false).then(Renewal::default), None);
    }
    match m.object("renew", renewal).optional() {
        Some((renewal, lines)) => (Some(renewal), lines),
        None => (None, None),
    }
}

fn renewal(m: &mut Members<'_>) -> (Renewal, Option<Vec<LineRequest>>) {
    let nobody = OrderNumber::from_store(String::new());
    let renewal = Renewal {
        period_start: m.time("period_start").optional(),
        period_end: m.time("period_end").optional(),
        order_number: m
            .parsed("order_number", Text::line(1, 64), "an order number", nobody, OrderNumber::parse)
            .optional(),
        lines: None,
        discount: m.money("discount").or(0),
        shipping: m.money("shipping").or(0),
        shipping_tax: m.money("shipping_tax").or(0),
        billing_address: m.object("billing_address", address).optional(),
        shipping_address: m.object("shipping_address", address).optional(),
        metadata: m.metadata("metadata").optional(),
    };
    (renewal, m.array("line_items", 1..=100, line).optional())
}
