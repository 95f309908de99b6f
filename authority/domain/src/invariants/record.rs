//! A stored record against the last event that tells of it, and its columns against itself (I10, I3).

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

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
use crate::time::Timestamp;

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
    let Some((record, mut findings)) = read(kind, &stored.body) else {
        let detail = format!("the stored {kind} lacks members or has wrong ones");
        return found(FindingCode::RecordUnreadable, detail);
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
    for column in repeated(kind).split(' ') {
        let (name, place) = column.split_once('=').unwrap_or((column, column));
        let expected = expected(name, place, told, &record);
        if expected.is_some() && stored.columns.get(name) != expected.as_ref() {
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

/// The columns that repeat a part of a record of the kind. Behind `=` is where the part stands, when it is no member of
/// the column's name.
fn repeated(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Checkout => "status currency total=amounts/total expires_at resource_version",
        RecordKind::Payment => {
            "status checkout_id order_number subscription_id currency amount amount_authorized amount_captured \
             amount_refunded amount_refund_pending late resource_version created_sequence created_at"
        }
        RecordKind::Order => {
            "status payment_status fulfillment_status currency total=amounts/total \
             customer_reference=customer/reference resource_version created_sequence last_sequence created_at \
             updated_at"
        }
        RecordKind::Refund => {
            "order_number payment_id status amount resource_version created_sequence created_at"
        }
        RecordKind::Shipment => {
            "order_number status carrier tracking_number resource_version created_sequence"
        }
        RecordKind::Subscription => {
            "status customer_reference=customer/reference resource_version created_sequence created_at"
        }
    }
}

/// What a column of [`repeated`] holds beside this record: of a time its milliseconds. `None` when nothing says it,
/// because the record's first event was removed.
fn expected(name: &str, place: &str, told: &RecordFromEvents, record: &Value) -> Option<Value> {
    let part = || record.pointer(&format!("/{place}")).cloned().unwrap_or(Value::Null);
    match name {
        "created_sequence" => told.first_sequence.map(Value::from),
        "last_sequence" => Some(told.last_sequence.into()),
        _ if name.ends_with("_at") => {
            let time = part().as_str().and_then(Timestamp::parse);
            Some(time.map_or(Value::Null, |at| at.as_ms().into()))
        }
        _ => Some(part()),
    }
}

/// The record, and what is wrong with it by itself; `None` when the body is no record of the kind.
fn read(kind: RecordKind, body: &str) -> Option<(Value, Vec<Finding>)> {
    fn written<T: DeserializeOwned + Serialize>(body: &str) -> Option<(Value, T)> {
        let record: T = serde_json::from_str(body).ok()?;
        Some((serde_json::to_value(&record).ok()?, record))
    }
    let record = match kind {
        RecordKind::Payment => {
            let (record, payment) = written::<Payment>(body)?;
            return Some((record, check_payment(&payment)));
        }
        RecordKind::Checkout => written::<Checkout>(body)?.0,
        RecordKind::Order => written::<Order>(body)?.0,
        RecordKind::Refund => written::<Refund>(body)?.0,
        RecordKind::Shipment => written::<Shipment>(body)?.0,
        RecordKind::Subscription => written::<Subscription>(body)?.0,
    };
    Some((record, Vec::new()))
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
