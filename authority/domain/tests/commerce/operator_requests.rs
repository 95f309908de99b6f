//! Bodies of the operator side: checkouts, payments, reports, merchants, keys (contract 6.2).

use authority_domain::bounds::MONEY_MAX;
use authority_domain::checkout::CheckoutRequest;
use authority_domain::event::change::Record;
use authority_domain::merchant::{ApiKeyRequest, MerchantRequest};
use authority_domain::parts::Amounts;
use authority_domain::payment::{CaptureMethod, PaymentReportRequest, PaymentRequest};
use authority_domain::{ErrorCode, PaymentStatus, Scope, payment};
use serde_json::{Value, json};

use crate::fixtures::{TOTAL, checkout_body, checkout_of, dice, new_payment, noon, payment_body};
use crate::refused_bodies::Edit::{Drop, Set};
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
    let line = |member: &str, value: Value| {
        let mut line = good["line_items"][0].clone();
        line[member] = value;
        line
    };
    let table = [
        (Drop("/currency"), &["/currency required"][..]),
        (Set("/currency", json!("usd")), &["/currency invalid_currency"]),
        (Drop("/line_items"), &["/line_items required"]),
        (Set("/line_items", json!([])), &["/line_items too_short"]),
        (Set("/line_items", json!(vec![good["line_items"][0].clone(); 101])), &["/line_items too_long"]),
        (Set("/line_items/1", line("quantity", json!(0))), &["/line_items/1/quantity out_of_range"]),
        (Set("/line_items/1", line("quantity", json!(100_001))), &["/line_items/1/quantity out_of_range"]),
        (Set("/line_items/1", line("unit_amount", json!(-1))), &["/line_items/1/unit_amount out_of_range"]),
        (Set("/line_items/1", line("unit_amount", json!(1.5))), &["/line_items/1/unit_amount wrong_type"]),
        (Set("/line_items/1", line("name", json!(""))), &["/line_items/1/name too_short"]),
        (Set("/line_items/1", line("id", json!("li_1"))), &["/line_items/1/id field_not_writable"]),
        (
            Set("/line_items/1", line("total_amount", json!(1))),
            &["/line_items/1/total_amount field_not_writable"],
        ),
        (Set("/line_items/1", line("color", json!("red"))), &["/line_items/1/color unknown_field"]),
        (Set("/discount", json!(-1)), &["/discount out_of_range"]),
        (Set("/shipping", json!(MONEY_MAX + 1)), &["/shipping out_of_range"]),
        (Set("/mode", json!("subscription")), &["/subscription required"]),
        (Set("/mode", json!("rent")), &["/mode invalid_value"]),
        (Set("/mode", json!("payment")), &[]),
        (Set("/customer/email", json!("ada")), &["/customer/email invalid_value"]),
        (Set("/customer/email", json!("a@b@c")), &["/customer/email invalid_value"]),
        (Set("/customer/email", json!(7)), &["/customer/email wrong_type"]),
        (Set("/customer/email", json!("a@")), &["/customer/email too_short"]),
        (Set("/customer/locale", json!("en_GB")), &["/customer/locale invalid_value"]),
        (Set("/customer/locale", json!("en-")), &["/customer/locale invalid_value"]),
        (Set("/customer/locale", json!("--")), &["/customer/locale invalid_value"]),
        (Set("/customer/locale", json!("123")), &["/customer/locale invalid_value"]),
        (Set("/customer/locale", json!("zh-Hant-TW-x-a1")), &[]),
        (Set("/customer/locale", json!(1)), &["/customer/locale wrong_type"]),
        (
            Set("/shipping_address", json!({})),
            &["/shipping_address/line1 required", "/shipping_address/country required"],
        ),
        (
            Set("/billing_address", json!({"line1": "x", "country": "XX"})),
            &["/billing_address/country invalid_country"],
        ),
        (Set("/success_url", json!("http://example.com")), &["/success_url invalid_url"]),
        (Set("/expires_at", json!("tomorrow")), &["/expires_at invalid_time"]),
        (Set("/metadata/a b", json!("")), &["/metadata/a b invalid_value"]),
        (Set("/amounts", json!({})), &["/amounts field_not_writable"]),
        (Set("/merchant", json!("mer_1")), &["/merchant field_not_writable"]),
        (Set("/status", json!("completed")), &["/status field_not_writable"]),
        (Set("/total", json!(1)), &["/total unknown_field"]),
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
        (Set("/expires_at", at(5 * MINUTE_MS)), &[][..]),
        (Set("/expires_at", at(5 * MINUTE_MS - 1)), &["/expires_at out_of_range"]),
        (Set("/expires_at", at(30 * DAY_MS)), &[]),
        (Set("/expires_at", at(30 * DAY_MS + 1)), &["/expires_at out_of_range"]),
        (Set("/line_items/0/discount_amount", json!(4800)), &[]),
        (Set("/line_items/0/discount_amount", json!(4801)), &["/line_items/0/discount_amount out_of_range"]),
        (Set("/line_items/0/unit_amount", json!(MONEY_MAX)), &["/line_items/0/unit_amount out_of_range"]),
        (Set("/line_items/0/tax_amount", json!(MONEY_MAX)), &["/line_items/0/tax_amount out_of_range"]),
        (Set("/shipping", json!(MONEY_MAX)), &["/line_items out_of_range"]),
        (Set("/discount", json!(6500)), &[]),
        (Set("/discount", json!(6501)), &["/line_items out_of_range"]),
    ];
    let read = |body: &Value| CheckoutRequest::read(body)?.into_new(noon(), &mut dice());
    check(&checkout_body(), read, &table);
}

#[test]
fn payments() {
    let checkout = checkout_of(&checkout_body());
    let good = payment_body(&checkout);
    let table = [
        (Set("/checkout_id", json!("chk_1")), &["/checkout_id invalid_value"][..]),
        (Set("/checkout_id", json!("pay_00000000000000000000000000")), &["/checkout_id invalid_value"]),
        (Drop("/checkout_id"), &["/checkout_id required"]),
        (Set("/order_number", json!("ORD-1")), &["/order_number inconsistent"]),
        (Set("/order_number", json!("-1")), &["/order_number invalid_value"]),
        (Drop("/processor_event_id"), &["/processor_event_id required"]),
        (Set("/amount", json!(0)), &["/amount out_of_range"]),
        (Set("/amount", json!("100")), &["/amount wrong_type"]),
        (Set("/currency", json!("XXX ")), &["/currency invalid_currency"]),
        (Set("/capture_method", json!("later")), &["/capture_method invalid_value"]),
        (Drop("/method"), &["/method required"]),
        (Set("/method/type", json!("crypto")), &["/method/type invalid_value"]),
        (Set("/method/last4", json!("42424")), &["/method/last4 too_long"]),
        (Set("/method/last4", json!("424x")), &["/method/last4 invalid_value"]),
        (Set("/method/last4", json!(4242)), &["/method/last4 wrong_type"]),
        (Set("/method/number", json!("4242424242424242")), &["/method/number unknown_field"]),
        (Drop("/processor/name"), &["/processor/name required"]),
        (Set("/status", json!("succeeded")), &["/status field_not_writable"]),
        (Set("/amount_captured", json!(1)), &["/amount_captured field_not_writable"]),
    ];
    check(&good, PaymentRequest::read, &table);
    let new = PaymentRequest::read(&good).unwrap().into_new(noon(), &mut dice());
    assert_eq!((new.amount, new.capture_method), (TOTAL, CaptureMethod::Automatic));
}

#[test]
fn a_repeated_start_is_known_by_checkout_amount_and_currency() {
    let checkout = checkout_of(&checkout_body());
    let good = payment_body(&checkout);
    let change = payment::flow::start(&checkout, false, new_payment(&checkout), noon()).unwrap();
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
        (Drop("/status"), &["/status required"][..]),
        (Set("/status", json!("created")), &["/status invalid_value"]),
        (Set("/status", json!("refunded")), &["/status invalid_value"]),
        (Set("/status", json!("partially_refunded")), &["/status invalid_value"]),
        (Drop("/processor_event_id"), &["/processor_event_id required"]),
        (Set("/amount_captured", json!(-1)), &["/amount_captured out_of_range"]),
        (Drop("/failure/code"), &["/failure/code required"]),
        (Set("/failure/code", json!("x".repeat(65))), &["/failure/code too_long"]),
        (Set("/occurred_at", minutes(5)), &[]),
        (Set("/occurred_at", json!(noon().plus_ms(300_001))), &["/occurred_at out_of_range"]),
        (Set("/occurred_at", json!(1)), &["/occurred_at wrong_type"]),
        (Set("/occurred_at", json!(null)), &["/occurred_at required"]),
        (Set("/amount_captured", json!(null)), &["/amount_captured required"]),
        (Set("/failure", json!(null)), &["/failure required"]),
        (Set("/failure/message", json!(null)), &["/failure/message required"]),
        (Set("/currency", json!("usd")), &["/currency invalid_currency"]),
        (Set("/amount", json!(1)), &["/amount unknown_field"]),
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
        (Set("/slug", json!("Acme")), &["/slug invalid_value"][..]),
        (Set("/slug", json!("-acme")), &["/slug invalid_value"]),
        (Set("/slug", json!("a".repeat(63))), &[]),
        (Set("/slug", json!("a".repeat(64))), &["/slug invalid_value"]),
        (Drop("/name"), &["/name required"]),
        (Set("/default_currency", json!("EURO")), &["/default_currency invalid_currency"]),
        (Set("/settings/confirm_on", json!("shipped")), &["/settings/confirm_on invalid_value"]),
        (Set("/settings/require_if_match", json!(1)), &["/settings/require_if_match wrong_type"]),
        (Set("/settings/order_number_prefix", json!("#")), &["/settings/order_number_prefix invalid_value"]),
        (Set("/settings/order_number_prefix", json!("")), &["/settings/order_number_prefix too_short"]),
        (Set("/settings/order_number_prefix", json!(5)), &["/settings/order_number_prefix wrong_type"]),
        (
            Set("/settings/order_number_prefix", json!("A".repeat(33))),
            &["/settings/order_number_prefix too_long"],
        ),
        (Set("/settings/pending_order_ttl_hours", json!(null)), &[]),
        (
            Set("/settings/pending_order_ttl_hours", json!(0)),
            &["/settings/pending_order_ttl_hours out_of_range"],
        ),
        (
            Set("/settings/pending_order_ttl_hours", json!(8761)),
            &["/settings/pending_order_ttl_hours out_of_range"],
        ),
        (Set("/settings/color", json!(1)), &["/settings/color unknown_field"]),
        (Set("/status", json!("active")), &["/status field_not_writable"]),
    ];
    check(&good, MerchantRequest::read, &table);
}

#[test]
fn api_keys() {
    let good = json!({"name": "till", "mode": "live", "scopes": ["orders:read"]});
    let table = [
        (Drop("/mode"), &["/mode required"][..]),
        (Set("/mode", json!("sandbox")), &["/mode invalid_value"]),
        (Set("/scopes", json!([])), &["/scopes too_short"]),
        (Set("/scopes", json!(["orders:read", "operator:read"])), &["/scopes/1 invalid_value"]),
        (Set("/expires_at", json!(noon())), &["/expires_at out_of_range"]),
        (Set("/expires_at", json!("never")), &["/expires_at invalid_time"]),
        (Set("/expires_at", json!(noon().plus_ms(1))), &[]),
        (Set("/livemode", json!(true)), &["/livemode unknown_field"]),
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
