//! Bodies of the operator side: checkouts, payments, reports, merchants, keys (contract 6.2).

use authority_domain::bounds::MONEY_MAX;
use authority_domain::checkout::CheckoutRequest;
use authority_domain::event::change::Record;
use authority_domain::merchant::{ApiKeyRequest, MerchantRequest};
use authority_domain::parts::Amounts;
use authority_domain::payment::{CaptureMethod, PaymentReportRequest, PaymentRequest};
use authority_domain::{ErrorCode, PaymentStatus, Scope, transitions};
use serde_json::{Value, json};

use crate::fixtures::{TOTAL, checkout_body, checkout_of, dice, new_payment, noon, payment_body};
use crate::refused_bodies::Edit::{Drop, Each, Set};
use crate::refused_bodies::{check, errors};

fn address() -> Value {
    json!({"line1": "1 Main St", "country": "GB"})
}

#[test]
fn checkouts() {
    let mut good = checkout_body();
    good["customer"] = json!({"email": "ada@example.com", "locale": "en-GB"});
    good["shipping_address"] = address();
    good["metadata"] = json!({"k": "v"});
    let table = [
        (Drop("/currency"), "required"),
        (Set("/currency", json!("usd")), "invalid_currency"),
        (Drop("/line_items"), "required"),
        (Set("/line_items", json!([])), "too_short"),
        (Set("/line_items", json!(vec![good["line_items"][0].clone(); 101])), "too_long"),
        (Each("/line_items/1/quantity", json!([0, 100_001])), "out_of_range"),
        (Set("/line_items/1/unit_amount", json!(-1)), "out_of_range"),
        (Set("/line_items/1/unit_amount", json!(1.5)), "wrong_type"),
        (Set("/line_items/1/name", json!("")), "too_short"),
        (Set("/line_items/1/id", json!("li_1")), "field_not_writable"),
        (Set("/line_items/1/total_amount", json!(1)), "field_not_writable"),
        (Set("/line_items/1/color", json!("red")), "unknown_field"),
        (Set("/discount", json!(-1)), "out_of_range"),
        (Set("/shipping", json!(MONEY_MAX + 1)), "out_of_range"),
        (Set("/mode", json!("subscription")), "/subscription required"),
        (Set("/mode", json!("rent")), "invalid_value"),
        (Set("/mode", json!("payment")), ""),
        (Each("/customer/email", json!(["ada", "a@b@c"])), "invalid_value"),
        (Set("/customer/email", json!(7)), "wrong_type"),
        (Set("/customer/email", json!("a@")), "too_short"),
        (Each("/customer/locale", json!(["en_GB", "en-", "--", "123"])), "invalid_value"),
        (Set("/customer/locale", json!("zh-Hant-TW-x-a1")), ""),
        (Set("/customer/locale", json!(1)), "wrong_type"),
        (
            Set("/shipping_address", json!({})),
            "/shipping_address/line1 required, /shipping_address/country required",
        ),
        (
            Set("/billing_address", json!({"line1": "x", "country": "XX"})),
            "/billing_address/country invalid_country",
        ),
        (Set("/success_url", json!("http://example.com")), "invalid_url"),
        (Set("/expires_at", json!("tomorrow")), "invalid_time"),
        (Set("/metadata/a b", json!("")), "invalid_value"),
        (Set("/amounts", json!({})), "field_not_writable"),
        (Set("/merchant", json!("mer_1")), "field_not_writable"),
        (Set("/status", json!("completed")), "field_not_writable"),
        (Set("/total", json!(1)), "unknown_field"),
    ];
    check(&good, CheckoutRequest::read, &table);
}

#[test]
fn a_checkout_is_summed_by_the_authority() {
    let checkout = checkout_of(&checkout_body());
    let expected = Amounts { subtotal: 6000, discount: 300, shipping: 500, tax: 0, total: TOTAL };
    assert_eq!(checkout.amounts, expected);
    assert_eq!(checkout.expires_at, noon().plus_ms(24 * 3_600_000));
    let mut body = checkout_body();
    body["shipping_tax"] = json!(50);
    body["line_items"][0]["tax_amount"] = json!(7);
    body["line_items"][0]["discount_amount"] = json!(4800);
    let checkout = checkout_of(&body);
    let expected = Amounts { subtotal: 6000, discount: 5100, shipping: 500, tax: 57, total: 1457 };
    assert_eq!(checkout.amounts, expected);
    assert_eq!(checkout.line_items[0].total_amount, 7);
}

#[test]
fn sums_and_lives_out_of_range_are_refused_by_pointer() {
    const MINUTE_MS: i64 = 60_000;
    const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
    let at = |ms: i64| json!(noon().plus_ms(ms));
    let table = [
        (Set("/expires_at", at(5 * MINUTE_MS)), ""),
        (Set("/expires_at", at(5 * MINUTE_MS - 1)), "out_of_range"),
        (Set("/expires_at", at(30 * DAY_MS)), ""),
        (Set("/expires_at", at(30 * DAY_MS + 1)), "out_of_range"),
        (Set("/line_items/0/discount_amount", json!(4800)), ""),
        (Set("/line_items/0/discount_amount", json!(4801)), "out_of_range"),
        (Set("/line_items/0/unit_amount", json!(MONEY_MAX)), "out_of_range"),
        (Set("/line_items/0/tax_amount", json!(MONEY_MAX)), "out_of_range"),
        (Set("/shipping", json!(MONEY_MAX)), "/line_items out_of_range"),
        (Set("/discount", json!(6500)), ""),
        (Set("/discount", json!(6501)), "/line_items out_of_range"),
    ];
    let read = |body: &Value| CheckoutRequest::read(body)?.into_new(noon(), &mut dice());
    check(&checkout_body(), read, &table);
}

#[test]
fn payments() {
    let checkout = checkout_of(&checkout_body());
    let good = payment_body(&checkout);
    let table = [
        (Each("/checkout_id", json!(["chk_1", "pay_00000000000000000000000000"])), "invalid_value"),
        (Drop("/checkout_id"), "required"),
        (Set("/order_number", json!("ORD-1")), "inconsistent"),
        (Set("/order_number", json!("-1")), "invalid_value"),
        (Drop("/processor_event_id"), "required"),
        (Set("/amount", json!(0)), "out_of_range"),
        (Set("/amount", json!("100")), "wrong_type"),
        (Set("/currency", json!("XXX ")), "invalid_currency"),
        (Set("/capture_method", json!("later")), "invalid_value"),
        (Drop("/method"), "required"),
        (Set("/method/type", json!("crypto")), "invalid_value"),
        (Set("/method/last4", json!("42424")), "too_long"),
        (Set("/method/last4", json!("424x")), "invalid_value"),
        (Set("/method/last4", json!(4242)), "wrong_type"),
        (Set("/method/number", json!("4242424242424242")), "unknown_field"),
        (Drop("/processor/name"), "required"),
        (Set("/status", json!("succeeded")), "field_not_writable"),
        (Set("/amount_captured", json!(1)), "field_not_writable"),
    ];
    check(&good, PaymentRequest::read, &table);
    let new = PaymentRequest::read(&good).unwrap().into_new(noon(), &mut dice());
    assert_eq!((new.amount, new.capture_method), (TOTAL, CaptureMethod::Automatic));
}

#[test]
fn a_repeated_start_is_known_by_checkout_amount_and_currency() {
    let checkout = checkout_of(&checkout_body());
    let good = payment_body(&checkout);
    let change = transitions::payment::start(&checkout, false, new_payment(&checkout), noon()).unwrap();
    let Record::Payment(payment) = change.record else { panic!("a payment") };
    let is_start = |member: &str, value: Value| {
        let mut body = good.clone();
        body[member] = value;
        PaymentRequest::read(&body).unwrap().is_start_of(&payment)
    };
    assert!(is_start("capture_method", json!("manual")), "what else it says may have been said better");
    assert!(!is_start("amount", json!(TOTAL - 1)));
    assert!(!is_start("currency", json!("EUR")));
    assert!(!is_start("checkout_id", json!("chk_01k3zqd5f7h9k1n3q5s7t9v1wy")));
}

#[test]
fn reports_about_payments() {
    let good = json!({"status": "failed", "processor_event_id": "evt-2",
                      "failure": {"code": "card_declined", "message": "Declined."}});
    let minutes = |n: i64| json!(noon().plus_ms(n * 60_000));
    let table = [
        (Drop("/status"), "required"),
        (Each("/status", json!(["created", "refunded", "partially_refunded"])), "invalid_value"),
        (Drop("/processor_event_id"), "required"),
        (Set("/amount_captured", json!(-1)), "out_of_range"),
        (Drop("/failure/code"), "required"),
        (Set("/failure/code", json!("x".repeat(65))), "too_long"),
        (Set("/occurred_at", minutes(5)), ""),
        (Set("/occurred_at", json!(noon().plus_ms(300_001))), "out_of_range"),
        (Set("/occurred_at", json!(1)), "wrong_type"),
        (Set("/occurred_at", json!(null)), "required"),
        (Set("/amount_captured", json!(null)), "required"),
        (Set("/failure", json!(null)), "required"),
        (Set("/failure/message", json!(null)), "required"),
        (Set("/currency", json!("usd")), "invalid_currency"),
        (Set("/amount", json!(1)), "unknown_field"),
    ];
    check(&good, |body| PaymentReportRequest::read(body, noon()), &table);
    let request = PaymentReportRequest::read(&good, noon()).unwrap();
    assert_eq!(request.report.status, PaymentStatus::Failed);
    assert_eq!(request.report.amount_captured, None);
    // What is reported happened about when there was a payment, or since.
    let (_, payment) = crate::fixtures::created_payment();
    for (ms, wrong) in [(-86_400_000, &[][..]), (-86_400_001, &["/occurred_at out_of_range"])] {
        let body = json!({"status": "pending", "processor_event_id": "e", "occurred_at": noon().plus_ms(ms)});
        let judged = PaymentReportRequest::read(&body, noon()).unwrap().check(&payment);
        assert_eq!(judged.err().map(|refusal| errors(&refusal)).unwrap_or_default(), wrong);
    }
}

#[test]
fn names_of_processors_are_read_in_one_form() {
    let checkout = checkout_of(&checkout_body());
    for (name, expected) in [(" Acme-Pay ", Ok("acme-pay")), ("ACME", Ok("acme")), ("  ", Err("too_short"))] {
        let mut body = payment_body(&checkout);
        body["processor"]["name"] = json!(name);
        let read = PaymentRequest::read(&body);
        let found = read.as_ref().map(PaymentRequest::processor_name).map_err(errors);
        assert_eq!(found, expected.map_err(|code| vec![format!("/processor/name {code}")]), "{name}");
    }
}

#[test]
fn merchants() {
    let good = json!({"slug": "acme", "name": "Acme", "default_currency": "EUR", "settings": {}});
    let table = [
        (Each("/slug", json!(["Acme", "-acme"])), "invalid_value"),
        (Set("/slug", json!("a".repeat(63))), ""),
        (Set("/slug", json!("a".repeat(64))), "invalid_value"),
        (Drop("/name"), "required"),
        (Set("/default_currency", json!("EURO")), "invalid_currency"),
        (Set("/settings/confirm_on", json!("shipped")), "invalid_value"),
        (Set("/settings/require_if_match", json!(1)), "wrong_type"),
        (Set("/settings/order_number_prefix", json!("#")), "invalid_value"),
        (Set("/settings/order_number_prefix", json!("")), "too_short"),
        (Set("/settings/order_number_prefix", json!(5)), "wrong_type"),
        (Set("/settings/order_number_prefix", json!("A".repeat(33))), "too_long"),
        (Set("/settings/pending_order_ttl_hours", json!(null)), ""),
        (Each("/settings/pending_order_ttl_hours", json!([0, 8761])), "out_of_range"),
        (Set("/settings/color", json!(1)), "unknown_field"),
        (Set("/status", json!("active")), "field_not_writable"),
    ];
    check(&good, MerchantRequest::read, &table);
}

#[test]
fn api_keys() {
    let good = json!({"name": "till", "mode": "live", "scopes": ["orders:read"]});
    let table = [
        (Drop("/mode"), "required"),
        (Set("/mode", json!("sandbox")), "invalid_value"),
        (Set("/scopes", json!([])), "too_short"),
        (Set("/scopes", json!(["orders:read", "operator:read"])), "/scopes/1 invalid_value"),
        (Set("/expires_at", json!(noon())), "out_of_range"),
        (Set("/expires_at", json!("never")), "invalid_time"),
        (Set("/expires_at", json!(noon().plus_ms(1))), ""),
        (Set("/livemode", json!(true)), "unknown_field"),
    ];
    check(&good, |body| ApiKeyRequest::read(body, noon()), &table);
    let mut repeated = good.clone();
    repeated["scopes"] = json!(["orders:write", "orders:read", "orders:write"]);
    let request = ApiKeyRequest::read(&repeated, noon()).unwrap();
    assert_eq!(request.scopes, [Scope::OrdersRead, Scope::OrdersWrite]);
    assert!(request.livemode);
}

#[test]
fn all_errors_of_a_body_come_at_once() {
    let body = json!({"currency": "usd", "line_items": [{"quantity": 0}], "status": "open", "x": 1});
    let refusal = CheckoutRequest::read(&body).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::FieldNotWritable);
    assert_eq!(
        errors(&refusal),
        [
            "/currency invalid_currency",
            "/line_items/0/name required",
            "/line_items/0/quantity out_of_range",
            "/line_items/0/unit_amount required",
            "/status field_not_writable",
            "/x unknown_field",
        ]
    );
}
