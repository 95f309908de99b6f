//! Orders from elsewhere: their bodies (contract 6.2) and their events (contract 3.9 row 7).

use authority_domain::event::change::Record;
use authority_domain::order::payment_status::PaymentStatus as Shown;
use authority_domain::order::{OrderRequest, OrderSource};
use authority_domain::parts::Amounts;
use authority_domain::{Change, ConfirmOn, ErrorCode, OrderStatus, Result, transitions};
use serde_json::{Value, json};

use crate::fixtures::{
    TOTAL, checkout_body, dice, event_names, last_order, last_payment, noon, order_number,
};
use crate::refused_bodies::Edit::{Drop, Each, Set};
use crate::refused_bodies::{check, errors};

fn payment(amount: i64, status: &str) -> Value {
    json!({"amount": amount, "status": status, "method": {"type": "cash"}, "processor": {"name": "till"},
           "processor_event_id": format!("evt-{amount}-{status}")})
}

fn ingest(body: &Value, confirm_on: ConfirmOn) -> Result<Vec<Change>> {
    let request = OrderRequest::read(body, noon())?;
    let (new, payments) = request.into_new(order_number(), noon(), &mut dice())?;
    transitions::order::ingest(new, payments, confirm_on, false, noon())
}

fn with_payments(payments: Value) -> Value {
    let mut body = checkout_body();
    body["payments"] = payments;
    body
}

#[test]
fn each_state_of_a_payment_has_its_sequence() {
    use OrderStatus::{Confirmed, Pending};
    let table = [
        ("created", "payment.created order.updated", Pending, Shown::Pending),
        ("pending", "payment.created payment.pending order.updated", Pending, Shown::Pending),
        ("authorized", "payment.created payment.authorized order.updated", Pending, Shown::Authorized),
        ("succeeded", "payment.created payment.succeeded order.confirmed", Confirmed, Shown::Paid),
        ("failed", "payment.created payment.failed order.updated", Pending, Shown::Failed),
        ("cancelled", "payment.created payment.cancelled order.updated", Pending, Shown::Voided),
    ];
    for (status, events, becomes, shown) in table {
        let changes = ingest(&with_payments(json!([payment(TOTAL, status)])), ConfirmOn::Paid).unwrap();
        assert_eq!(event_names(&changes).join(" "), format!("order.created {events}"));
        let Record::Order(created) = &changes[0].record else { panic!("the order") };
        assert_eq!((created.resource_version, created.payment_status), (1, Shown::Unpaid), "{status}");
        let order = last_order(&changes).unwrap();
        assert_eq!((order.status, order.payment_status), (becomes, shown), "{status}");
        assert_eq!(order.resource_version, 2, "{status}");
        let payment = last_payment(&changes).unwrap();
        assert_eq!(payment.status.as_str(), status);
        assert_eq!((payment.order_number, payment.checkout_id), (Some(order_number()), None));
    }
    let authorized = with_payments(json!([payment(TOTAL, "authorized")]));
    let changes = ingest(&authorized, ConfirmOn::Authorized).unwrap();
    assert_eq!(event_names(&changes)[3], "order.confirmed");
}

#[test]
fn an_order_without_payments_waits_and_a_free_one_does_not() {
    let changes = ingest(&checkout_body(), ConfirmOn::Paid).unwrap();
    assert_eq!(event_names(&changes), ["order.created"]);
    let mut free = checkout_body();
    free["discount"] = json!(6500);
    let changes = ingest(&free, ConfirmOn::Paid).unwrap();
    assert_eq!(event_names(&changes), ["order.created", "order.confirmed"]);
    assert_eq!(last_order(&changes).unwrap().payment_status, Shown::Paid);
}

#[test]
fn several_payments_make_one_event_of_the_order() {
    let two = json!([payment(TOTAL - 200, "succeeded"), payment(50, "failed"), payment(200, "succeeded")]);
    let changes = ingest(&with_payments(two), ConfirmOn::Paid).unwrap();
    let events = [
        "order.created",
        "payment.created",
        "payment.succeeded",
        "payment.created",
        "payment.failed",
        "payment.created",
        "payment.succeeded",
        "order.confirmed",
    ];
    assert_eq!(event_names(&changes), events);
    assert_eq!(last_order(&changes).unwrap().payment_ids.len(), 3);
    let part = ingest(&with_payments(json!([payment(200, "succeeded")])), ConfirmOn::Paid).unwrap();
    let order = last_order(&part).unwrap();
    assert_eq!((order.status, order.payment_status), (OrderStatus::Pending, Shown::PartiallyPaid));
}

#[test]
fn payments_that_do_not_fit_are_refused_by_pointer() {
    let mut partly = payment(TOTAL, "succeeded");
    partly["amount_captured"] = json!(TOTAL + 1);
    let mut reserved = payment(TOTAL, "pending");
    reserved["amount_authorized"] = json!(TOTAL);
    let mut old = payment(TOTAL, "succeeded");
    old["occurred_at"] = json!(noon().plus_ms(-86_400_001));
    let table = [
        (json!([payment(TOTAL + 1, "succeeded")]), "/payments/0/amount out_of_range"),
        (json!([payment(TOTAL, "pending"), payment(1, "created")]), "/payments/1/amount out_of_range"),
        (json!([payment(TOTAL, "succeeded"), payment(1, "succeeded")]), "/payments/1/amount out_of_range"),
        (json!([partly]), "/payments/0/amount_captured out_of_range"),
        (json!([reserved]), "/payments/0/amount_authorized inconsistent"),
        (json!([old]), "/payments/0/occurred_at out_of_range"),
    ];
    for (payments, expected) in table {
        let refusal = ingest(&with_payments(payments), ConfirmOn::Paid).unwrap_err();
        assert_eq!(errors(&refusal), [expected]);
    }
    // A payment of an order from elsewhere is as old as that.
    let mut imported = with_payments(json!([old]));
    imported["placed_at"] = json!(noon().plus_ms(-90_000_000));
    assert!(ingest(&imported, ConfirmOn::Paid).is_ok());
    let mut euro = payment(1, "succeeded");
    euro["currency"] = json!("EUR");
    let refusal = ingest(&with_payments(json!([euro])), ConfirmOn::Paid).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::CurrencyMismatch);
}

#[test]
fn what_an_order_says_of_itself() {
    let mut body = checkout_body();
    body["source"] = json!("pos");
    body["placed_at"] = json!("2026-08-31T23:59:59+02:00");
    body["customer"] = json!({"reference": "c-77"});
    body["metadata"] = json!({"till": "3"});
    let order = last_order(&ingest(&body, ConfirmOn::Paid).unwrap()).unwrap();
    assert_eq!(order.source, OrderSource::Pos);
    assert_eq!(order.placed_at.to_string(), "2026-08-31T21:59:59.000Z");
    assert_eq!((order.created_at, order.order_number), (noon(), order_number()));
    assert_eq!(order.customer.unwrap().reference.as_deref(), Some("c-77"));
    assert_eq!(order.metadata["till"], "3");
    let plain = last_order(&ingest(&checkout_body(), ConfirmOn::Paid).unwrap()).unwrap();
    assert_eq!((plain.source, plain.placed_at), (OrderSource::Api, noon()));
}

#[test]
fn bodies() {
    let mut good = with_payments(json!([payment(TOTAL, "succeeded")]));
    good["order_number"] = json!("WEB-7");
    good["amounts"] = json!({});
    let table = [
        (Drop("/currency"), "required"),
        (Drop("/line_items"), "required"),
        (Set("/order_number", json!("")), "too_short"),
        (Each("/order_number", json!([".x", "a/b"])), "invalid_value"),
        (Set("/order_number", json!("a".repeat(64))), ""),
        (Set("/order_number", json!("a".repeat(65))), "too_long"),
        (Set("/order_number", json!(7)), "wrong_type"),
        (Set("/source", json!("import")), ""),
        (Each("/source", json!(["checkout", "subscription"])), "invalid_value"),
        (Set("/placed_at", json!(noon().plus_ms(300_000))), ""),
        (Set("/placed_at", json!(noon().plus_ms(300_001))), "out_of_range"),
        (Set("/amounts/total", json!(-1)), "out_of_range"),
        (Set("/amounts/sum", json!(1)), "unknown_field"),
        (Set("/payments", json!(vec![payment(1, "failed"); 20])), ""),
        (Set("/payments", json!(vec![payment(1, "failed"); 21])), "too_long"),
        (
            Set("/payments/0", json!({})),
            "/payments/0/amount required, /payments/0/method required, /payments/0/processor required, \
             /payments/0/processor_event_id required",
        ),
        (Set("/payments/0", payment(0, "succeeded")), "/payments/0/amount out_of_range"),
        (Set("/payments/0", payment(1, "refunded")), "/payments/0/status invalid_value"),
        (Set("/status", json!("confirmed")), "field_not_writable"),
        (Set("/payment_status", json!("paid")), "field_not_writable"),
        (Set("/merchant", json!("mer_1")), "field_not_writable"),
        (Set("/expires_at", json!("x")), "unknown_field"),
    ];
    check(&good, |body| OrderRequest::read(body, noon()), &table);
}

/// Sums that are given must agree, and say what is not given otherwise.
#[test]
fn amounts_agree_with_the_lines() {
    let taxed = |mut body: Value| {
        body["line_items"][0]["tax_amount"] = json!(7);
        body["line_items"][0]["discount_amount"] = json!(100);
        body
    };
    let bare = json!({"currency": "USD", "line_items": checkout_body()["line_items"]});
    let amounts = |subtotal, discount, shipping, tax, total| json!({"subtotal": subtotal, "discount": discount, "shipping": shipping, "tax": tax, "total": total});
    let table = [
        (checkout_body(), amounts(6000, 300, 500, 0, 6200), &[][..]),
        (checkout_body(), json!({"total": 6200}), &[]),
        (bare.clone(), amounts(6000, 300, 500, 20, 6220), &[]),
        (taxed(bare.clone()), amounts(6000, 300, 500, 20, 6220), &[]),
        (checkout_body(), json!({"total": 6201}), &["/amounts/total inconsistent"]),
        (checkout_body(), json!({"shipping": 499, "tax": 1}), &["/amounts/shipping inconsistent"]),
        (bare.clone(), json!({"subtotal": 5999}), &["/amounts/subtotal inconsistent"]),
        (
            taxed(bare),
            json!({"discount": 99, "tax": 6}),
            &["/amounts/discount inconsistent", "/amounts/tax inconsistent"],
        ),
    ];
    for (mut body, given, expected) in table {
        body["amounts"] = given;
        let done = ingest(&body, ConfirmOn::Paid);
        let found = done.as_ref().err().map(errors).unwrap_or_default();
        assert_eq!(found, expected, "{body}");
    }
    let mut body = json!({"currency": "USD", "line_items": checkout_body()["line_items"]});
    body["amounts"] = amounts(6000, 300, 500, 20, 6220);
    let order = last_order(&ingest(&body, ConfirmOn::Paid).unwrap()).unwrap();
    let expected = Amounts { subtotal: 6000, discount: 300, shipping: 500, tax: 20, total: 6220 };
    assert_eq!(order.amounts, expected);
}
