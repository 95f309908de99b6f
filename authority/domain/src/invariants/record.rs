//! A stored record against the last event that tells of it, and its columns against itself (I10, I3).

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::history::RecordFromEvents;
use super::record_kind::RecordKind;
use super::{Finding, FindingCode};
use crate::bounds::MONEY_MAX;
use crate::checkout::Checkout;
use crate::order::Order;
use crate::payment::Payment;
use crate::refund::Refund;
use crate::shipment::Shipment;
use crate::subscription::Subscription;

/// A row: the rendered record and the columns beside it that repeat parts of it.
#[derive(Clone, Debug)]
pub struct StoredRecord {
    /// Which kind.
    pub kind: RecordKind,
    /// Its id; of an order, its number.
    pub id: String,
    /// The rendered record.
    pub body: String,
    /// Texts, numbers and nulls by the names of their columns.
    pub columns: BTreeMap<&'static str, Value>,
}

/// Whether the stored record is the one that its events tell of. `stored` is `None` when there is no row.
#[must_use]
pub fn check_record(told: &RecordFromEvents, stored: Option<&StoredRecord>) -> Vec<Finding> {
    let found = |code, detail: String| vec![Finding::new(code, told.id.as_str(), detail)];
    let kind = told.kind;
    let Some(stored) = stored else {
        let detail = format!("{} events tell of it up to version {}", kind, told.version);
        return found(FindingCode::EventWithoutRecord, detail);
    };
    let Ok(mut body) = serde_json::from_str::<Value>(&stored.body) else {
        return found(FindingCode::RecordUnreadable, format!("the stored {kind} is not JSON"));
    };
    let Some((columns, mut findings)) = expected(told, &stored.body) else {
        return found(
            FindingCode::RecordUnreadable,
            format!("the stored {kind} lacks members or has wrong ones"),
        );
    };
    let version = body.get("resource_version").and_then(Value::as_i64);
    if version != Some(told.version) {
        let shown = version.map_or_else(|| "none".to_owned(), |version| version.to_string());
        let detail = format!("the {kind} has version {shown}, its last event {}", told.version);
        findings.extend(found(FindingCode::RecordVersionDiffers, detail));
    } else if kind == RecordKind::Payment {
        // Computed from the refunds whenever a payment is shown (contract 3.6).
        let mut object = told.object.clone();
        for members in [&mut body, &mut object].into_iter().filter_map(|record| record.as_object_mut()) {
            members.remove("amount_refund_pending");
            // What was told before payments could be late says nothing of it.
            members.entry("late").or_insert(Value::Bool(false));
        }
        findings.extend(differing(told, &body, &object));
    } else {
        findings.extend(differing(told, &body, &told.object));
    }
    for (name, value) in columns {
        if name == "created_sequence" && told.first_sequence.is_none() {
            continue;
        }
        if stored.columns.get(name) != Some(&value) {
            findings.extend(found(FindingCode::ColumnsDiffer, format!("column {name} of the {kind}")));
        }
    }
    findings
}

/// Names the members in which a record and its last event differ; their values may be personal data.
fn differing(told: &RecordFromEvents, body: &Value, object: &Value) -> Option<Finding> {
    if body == object {
        return None;
    }
    let members =
        |record: &Value| record.as_object().map(|m| m.keys().cloned().collect()).unwrap_or_default();
    let mut names: Vec<String> = members(body);
    names.extend(members(object));
    names.sort();
    names.dedup();
    names.retain(|name| body.get(name) != object.get(name));
    let detail = format!("the {} differs from its last event in {}", told.kind, names.join(", "));
    Some(Finding::new(FindingCode::RecordDiffers, told.id.as_str(), detail))
}

type Columns = Vec<(&'static str, Value)>;

/// The columns that belong to a body, and what is wrong with the record by itself; `None` when the body is no record
/// of the kind.
fn expected(told: &RecordFromEvents, body: &str) -> Option<(Columns, Vec<Finding>)> {
    // Without its first event nothing says what the column must be; it is left out of the comparison.
    let (first, last) = (told.first_sequence.unwrap_or(0), told.last_sequence);
    let columns = match told.kind {
        RecordKind::Checkout => checkout(&read(body)?),
        RecordKind::Payment => {
            let payment: Payment = read(body)?;
            return Some((self::payment(&payment, first), check_payment(&payment)));
        }
        RecordKind::Order => order(&read(body)?, first, last),
        RecordKind::Refund => refund(&read(body)?, first),
        RecordKind::Shipment => shipment(&read(body)?, first),
        RecordKind::Subscription => subscription(&read(body)?, first),
    };
    Some((columns, Vec::new()))
}

fn read<T: DeserializeOwned>(body: &str) -> Option<T> {
    serde_json::from_str(body).ok()
}

/// I3, and what is late is money.
fn check_payment(payment: &Payment) -> Vec<Finding> {
    let unordered = "not 0 ≤ amount_refunded ≤ amount_captured ≤ amount_authorized ≤ amount";
    let late = "it is late, and nothing was captured";
    let checks = [
        (!amounts_are_ordered(payment), FindingCode::PaymentAmountsOutOfOrder, unordered),
        (payment.late && payment.amount_captured == 0, FindingCode::LatePaymentDiffers, late),
    ];
    let found = checks.into_iter().filter(|(fails, ..)| *fails);
    found.map(|(_, code, detail)| Finding::new(code, payment.id.as_str(), detail)).collect()
}

pub(super) fn amounts_are_ordered(payment: &Payment) -> bool {
    let Payment { amount_refunded, amount_captured, amount_authorized, amount, .. } = *payment;
    [0, amount_refunded, amount_captured, amount_authorized, amount, MONEY_MAX].is_sorted()
}

fn checkout(checkout: &Checkout) -> Columns {
    vec![
        ("status", json!(checkout.status)),
        ("currency", json!(checkout.currency)),
        ("total", json!(checkout.amounts.total)),
        ("expires_at", json!(checkout.expires_at.as_ms())),
        ("resource_version", json!(checkout.resource_version)),
    ]
}

fn payment(payment: &Payment, first: i64) -> Columns {
    vec![
        ("status", json!(payment.status)),
        ("checkout_id", json!(payment.checkout_id)),
        ("order_number", json!(payment.order_number)),
        ("subscription_id", json!(payment.subscription_id)),
        ("currency", json!(payment.currency)),
        ("amount", json!(payment.amount)),
        ("amount_authorized", json!(payment.amount_authorized)),
        ("amount_captured", json!(payment.amount_captured)),
        ("amount_refunded", json!(payment.amount_refunded)),
        ("amount_refund_pending", json!(payment.amount_refund_pending)),
        ("late", json!(payment.late)),
        ("resource_version", json!(payment.resource_version)),
        ("created_sequence", json!(first)),
        ("created_at", json!(payment.created_at.as_ms())),
    ]
}

fn order(order: &Order, first: i64, last: i64) -> Columns {
    let reference = order.customer.as_ref().and_then(|customer| customer.reference.as_deref());
    vec![
        ("status", json!(order.status)),
        ("payment_status", json!(order.payment_status)),
        ("fulfillment_status", json!(order.fulfillment_status)),
        ("currency", json!(order.currency)),
        ("total", json!(order.amounts.total)),
        ("customer_reference", json!(reference)),
        ("resource_version", json!(order.resource_version)),
        ("created_sequence", json!(first)),
        ("last_sequence", json!(last)),
        ("created_at", json!(order.created_at.as_ms())),
        ("updated_at", json!(order.updated_at.as_ms())),
    ]
}

fn refund(refund: &Refund, first: i64) -> Columns {
    vec![
        ("order_number", json!(refund.order_number)),
        ("payment_id", json!(refund.payment_id)),
        ("status", json!(refund.status)),
        ("amount", json!(refund.amount)),
        ("resource_version", json!(refund.resource_version)),
        ("created_sequence", json!(first)),
        ("created_at", json!(refund.created_at.as_ms())),
    ]
}

fn shipment(shipment: &Shipment, first: i64) -> Columns {
    vec![
        ("order_number", json!(shipment.order_number)),
        ("status", json!(shipment.status)),
        ("carrier", json!(shipment.carrier)),
        ("tracking_number", json!(shipment.tracking_number)),
        ("resource_version", json!(shipment.resource_version)),
        ("created_sequence", json!(first)),
    ]
}

fn subscription(subscription: &Subscription, first: i64) -> Columns {
    vec![
        ("status", json!(subscription.status)),
        ("customer_reference", json!(subscription.customer.reference)),
        ("resource_version", json!(subscription.resource_version)),
        ("created_sequence", json!(first)),
        ("created_at", json!(subscription.created_at.as_ms())),
    ]
}
