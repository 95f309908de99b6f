//! What must hold of the changes of one command: the general rules 1 to 5 of contract 3, I7, I10, I11 and I14.

use std::collections::BTreeMap;

use authority_domain::event::change::Record;
use authority_domain::{Change, Order, OrderStatus, Payment};
use verify_core::catalog::EventType;

use super::Violation;
use super::ledger::Ledger;
use super::records::Found;
use super::tables;

/// One command: what was kept before and after it, and what it told.
pub(super) struct Step<'a> {
    pub(super) before: &'a Ledger,
    pub(super) after: &'a Ledger,
    pub(super) changes: &'a [Change],
    pub(super) refused: bool,
    pub(super) by_merchant: bool,
}

/// Every violation of a command.
pub(super) fn violations(step: &Step<'_>) -> Vec<Violation> {
    let mut found = Found::default();
    if step.refused {
        let nothing = step.changes.is_empty() && step.before == step.after;
        found.expect(nothing, "rule 1", || "a refusal changed something".to_owned());
    }
    versions(step, &mut found);
    kept_as_told(step, &mut found);
    ends(step, &mut found);
    order_events(step, &mut found);
    causes(step.changes, &mut found);
    immutable(step, &mut found);
    if step.by_merchant {
        merchants_reach(step, &mut found);
        given_up(step, &mut found);
    }
    found.0
}

fn key(change: &Change) -> (&'static str, String) {
    (change.event_type.category(), change.record.resource_id().to_owned())
}

/// I7 and rule 4: every version of every record has exactly one event, of the record's own category and in order.
fn versions(step: &Step<'_>, found: &mut Found) {
    let mut at = step.before.versions();
    for change in step.changes {
        let key = key(change);
        let version = change.record.resource_version().unwrap_or(0);
        let expected = at.get(&key).map_or(1, |before| before + 1);
        found.expect(version == expected, "I7", || format!("{key:?} is told as version {version}"));
        let creates = change.event_type.as_str() == creation(key.0);
        found.expect(creates == (version == 1), "I7", || {
            format!("{} of {version}", change.event_type.as_str())
        });
        let fits = change.event_type.category() == category(&change.record) && says_the_status(change);
        found.expect(fits, "rule 4", || format!("{} tells of {key:?}", change.event_type.as_str()));
        at.insert(key, version);
    }
    found.expect(at == step.after.versions(), "I7", || "a version without its event".to_owned());
}

fn creation(category: &str) -> String {
    let word = if category == "refund" { "requested" } else { "created" };
    format!("{category}.{word}")
}

fn category(record: &Record) -> &'static str {
    match record {
        Record::Checkout(_) => "checkout",
        Record::Payment(_) => "payment",
        Record::Order(_) | Record::Share(_) => "order",
        Record::Refund(_) => "refund",
        Record::Shipment(_) => "shipment",
        Record::Subscription(_) => "subscription",
        Record::WebhookTest(_) => "webhook",
    }
}

/// Where the event's name says a status, the record is in it.
fn says_the_status(change: &Change) -> bool {
    let word = change.event_type.as_str().split('.').nth(1).unwrap_or_default();
    let status = status(&change.record);
    match category(&change.record) {
        "payment" | "refund" => word == status,
        "checkout" => match word {
            "created" | "payment_failed" => status == "open",
            _ => word == status,
        },
        "shipment" => (word == "delivered") == (status == "delivered"),
        "subscription" => (word == "cancelled") == (status == "cancelled"),
        "order" => word != "cancelled" || status == "cancelled",
        _ => true,
    }
}

fn status(record: &Record) -> &'static str {
    match record {
        Record::Checkout(record) => record.status.as_str(),
        Record::Payment(record) => record.status.as_str(),
        Record::Order(record) => record.status.as_str(),
        Record::Refund(record) => record.status.as_str(),
        Record::Shipment(record) => record.status.as_str(),
        Record::Subscription(ongoing) => ongoing.record.status.as_str(),
        Record::Share(_) | Record::WebhookTest(_) => "",
    }
}

/// I10: what is kept is what was told. Of a payment, what open refunds reserve is computed and told elsewhere.
fn kept_as_told(step: &Step<'_>, found: &mut Found) {
    let mut expected = step.before.clone();
    expected.apply(step.changes);
    let without_pending = |ledger: &Ledger| -> Ledger {
        let mut ledger = ledger.clone();
        ledger.payments.iter_mut().for_each(|payment| payment.amount_refund_pending = 0);
        (ledger.terms, ledger.marked) = (BTreeMap::new(), BTreeMap::new());
        ledger.confirmed.clear();
        ledger
    };
    let same = without_pending(&expected) == without_pending(step.after);
    found.expect(same, "I10", || "a record is not what its last event says".to_owned());
}

/// I14, over every single change. Money that comes late leaves an end (contract 18.3).
fn ends(step: &Step<'_>, found: &mut Found) {
    let mut statuses: BTreeMap<(&'static str, String), &'static str> = BTreeMap::new();
    for record in all(step.before) {
        statuses.insert((category(&record), record.resource_id().to_owned()), status(&record));
    }
    for change in step.changes {
        let (key, now) = (key(change), status(&change.record));
        let late = matches!(&change.record, Record::Payment(payment) if payment.late) && now == "succeeded";
        let ended = statuses.insert(key.clone(), now).filter(|before| tables::is_terminal(key.0, before));
        let ended = ended.filter(|ended| !(late && *ended == "cancelled"));
        found.expect(ended.is_none_or(|ended| ended == now), "I14", || format!("{key:?} became {now}"));
    }
}

fn all(ledger: &Ledger) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    records.extend(ledger.checkouts.iter().map(|r| Record::Checkout(Box::new(r.clone()))));
    records.extend(ledger.payments.iter().map(|r| Record::Payment(Box::new(r.clone()))));
    records.extend(ledger.orders.iter().map(|r| Record::Order(Box::new(r.clone()))));
    records.extend(ledger.refunds.iter().map(|r| Record::Refund(Box::new(r.clone()))));
    records.extend(ledger.shipments.iter().map(|r| Record::Shipment(Box::new(r.clone()))));
    records.extend(ledger.subscriptions.iter().map(|r| Record::Subscription(Box::new(r.clone()))));
    records
}

/// Rules 2 and 3: one order event per change beside its creation, the strongest of what was reached.
fn order_events(step: &Step<'_>, found: &mut Found) {
    for order in &step.after.orders {
        let number = &order.order_number;
        let told: Vec<(&'static str, &Order)> = step
            .changes
            .iter()
            .filter_map(|change| match &change.record {
                Record::Order(told) if told.order_number == *number => {
                    Some((change.event_type.as_str(), &**told))
                }
                _ => None,
            })
            .collect();
        let mut before = step.before.order(number);
        let mut rest = &told[..];
        if let [("order.created", created), others @ ..] = rest {
            (before, rest) = (Some(*created), others);
        }
        found.expect(rest.len() <= 1, "rule 2", || format!("{number}: {} events", rest.len()));
        if let (Some(before), [(event, after)]) = (before, rest) {
            let strongest = strongest(before, after);
            found.expect(*event == strongest, "rule 3", || format!("{number}: {event} for {strongest}"));
        }
    }
}

fn strongest(before: &Order, after: &Order) -> &'static str {
    let reached = |status| after.status == status && before.status != status;
    let (from, to) = (before.fulfillment_status.as_str(), after.fulfillment_status.as_str());
    let higher = tables::rank(to) > tables::rank(from);
    if reached(OrderStatus::Cancelled) {
        "order.cancelled"
    } else if before.status == OrderStatus::Pending && after.status != OrderStatus::Pending {
        "order.confirmed"
    } else {
        match to {
            "delivered" if higher => "order.delivered",
            "shipped" if higher => "order.shipped",
            "fulfilled" if higher => "order.fulfilled",
            _ => "order.updated",
        }
    }
}

/// Rule 5: the order comes last; but it is created before the payments that name it, and after what it names.
fn causes(changes: &[Change], found: &mut Found) {
    let place = |event: EventType| changes.iter().position(|change| change.event_type == event);
    let last_order = changes.iter().rposition(|change| {
        matches!(change.record, Record::Order(_)) && change.event_type != EventType::OrderCreated
    });
    if let Some(last) = last_order {
        found.expect(last + 1 == changes.len(), "rule 5", || "something comes after the order".to_owned());
    }
    let Some(created) = place(EventType::OrderCreated) else { return };
    for (index, change) in changes.iter().enumerate() {
        let first = matches!(change.record, Record::Checkout(_) | Record::Subscription(_));
        let later = matches!(&change.record, Record::Payment(payment) if payment.order_number.is_some());
        let holds = (!first || index < created) && (!later || index > created);
        found.expect(holds, "rule 5", || format!("{} stands at {index}", change.event_type.as_str()));
    }
}

/// I1: no currency ever changes; nor does the amount asked for.
fn immutable(step: &Step<'_>, found: &mut Found) {
    for (before, after) in step.before.orders.iter().zip(&step.after.orders) {
        let same = before.currency == after.currency && before.amounts == after.amounts;
        found.expect(same, "I1", || format!("{}: the currency or the sums changed", before.order_number));
    }
    for (before, after) in step.before.payments.iter().zip(&step.after.payments) {
        let same = before.currency == after.currency && before.amount == after.amount;
        found.expect(same, "I1", || format!("{}: the currency or the amount changed", before.id));
    }
}

/// Contract 18.3: what no money will come for is not fulfilled, unless the operator confirmed it.
fn given_up(step: &Step<'_>, found: &mut Found) {
    for (before, after) in step.before.orders.iter().zip(&step.after.orders) {
        let given_up = matches!(before.payment_status.as_str(), "failed" | "voided");
        let confirmed = step.before.confirmed.contains(&before.order_number);
        let same = before.line_items == after.line_items;
        found.expect(same || !given_up || confirmed, "18.3", || {
            format!("{} is fulfilled, and {}", before.order_number, before.payment_status)
        });
    }
}

/// I11: a merchant's command changes nothing financial beyond a refund that is requested.
fn merchants_reach(step: &Step<'_>, found: &mut Found) {
    let (before, after) = (step.before, step.after);
    let same = before.checkouts == after.checkouts && before.subscriptions == after.subscriptions;
    found.expect(same, "I11", || "a checkout or a subscription changed".to_owned());
    let of_it = |payments: &[Payment]| -> Vec<Payment> {
        payments.iter().map(|p| Payment { amount_refund_pending: 0, ..p.clone() }).collect()
    };
    found.expect(of_it(&before.payments) == of_it(&after.payments), "I11", || "a payment changed".to_owned());
    let (old, new) = after.refunds.split_at(before.refunds.len().min(after.refunds.len()));
    let only_asked = new.iter().all(|refund| refund.status.as_str() == "requested");
    found.expect(old == before.refunds && only_asked, "I11", || "a refund moved".to_owned());
    found.expect(before.orders.len() == after.orders.len(), "I11", || "an order was made".to_owned());
    for (before, after) in before.orders.iter().zip(&after.orders) {
        let (old, new) = (before.payment_summary, after.payment_summary);
        let same = before.amounts == after.amounts
            && before.currency == after.currency
            && before.payment_status == after.payment_status
            && before.payment_ids == after.payment_ids
            && (old.captured, old.authorized, old.refunded, old.due)
                == (new.captured, new.authorized, new.refunded, new.due);
        found.expect(same, "I11", || format!("{}: something financial changed", before.order_number));
        let status = before.status == after.status || after.status == OrderStatus::Completed;
        found.expect(status, "I11", || format!("{} became {}", before.order_number, after.status));
    }
}
