//! Bodies of the Merchant API: shipments, webhook endpoints, endpoint tests (contract 4.7, 4.10).

use authority_domain::delivery::retry::RetrySchedule;
use authority_domain::endpoint::url::{UrlPolicy, UrlRules};
use authority_domain::endpoint::{EndpointRequest, EndpointTestRequest, SignatureProfile};
use authority_domain::shipment::NewShipment;
use authority_domain::{DisabledReason, EndpointId, EndpointStatus, ErrorCode};
use serde_json::{Value, json};

use crate::fixtures::{dice, noon};
use crate::refused_bodies::Edit::{Drop, Each, Set};
use crate::refused_bodies::{check, errors};

#[test]
fn shipments() {
    let good = json!({
        "carrier": "dhl", "tracking_number": "T-1", "tracking_url": "https://dhl.example/T-1",
        "line_items": [{"line_item_id": "li_1", "quantity": 1}],
        "shipped_at": noon(), "estimated_delivery_at": noon(),
    });
    let table = [
        (Drop("/carrier"), "required"),
        (Set("/carrier", json!("x".repeat(65))), "too_long"),
        (Set("/tracking_number", json!("x".repeat(101))), "too_long"),
        (Set("/tracking_url", json!("ftp://dhl.example")), "invalid_url"),
        (Drop("/line_items"), ""),
        (Set("/line_items", json!([])), "too_short"),
        (Set("/line_items/0", json!({"line_item_id": "li_1"})), "/line_items/0/quantity required"),
        (Set("/line_items/0/quantity", json!(0)), "out_of_range"),
        (Set("/line_items/0/line_item_id", json!(1)), "wrong_type"),
        (Set("/line_items/0/sku", json!("x")), "unknown_field"),
        (
            Set("/shipped_at", json!(noon().plus_ms(300_001))),
            "out_of_range, /estimated_delivery_at inconsistent",
        ),
        (Set("/shipped_at", json!("soon")), "invalid_time"),
        (Set("/estimated_delivery_at", json!(noon().plus_ms(-1))), "inconsistent"),
        (Set("/estimated_delivery_at", json!("soon")), "invalid_time"),
        (Set("/status", json!("delivered")), "field_not_writable"),
        (Set("/order_number", json!("ORD-1")), "field_not_writable"),
        (Set("/merchant_id", json!("mer_1")), "unknown_field"),
    ];
    check(&good, |body| NewShipment::read(body, noon()), &table);
}

#[test]
fn an_estimate_without_a_time_of_shipping_counts_from_now() {
    let body = |ms: i64| json!({"carrier": "dhl", "estimated_delivery_at": noon().plus_ms(ms)});
    assert!(NewShipment::read(&body(0), noon()).is_ok());
    let refusal = NewShipment::read(&body(-1), noon()).unwrap_err();
    assert_eq!(errors(&refusal), ["/estimated_delivery_at inconsistent"]);
}

fn endpoint(body: &Value) -> Result<EndpointRequest, authority_domain::refusal::Refusal> {
    EndpointRequest::read(body, &UrlRules::new(UrlPolicy::Public), true)
}

#[test]
fn endpoints() {
    let good =
        json!({"url": "https://shop.example.com/hooks", "enabled_events": ["order.*", "payment.failed"]});
    let table = [
        (Drop("/url"), "required"),
        (Set("/url", json!(1)), "wrong_type"),
        (Drop("/enabled_events"), ""),
        (Set("/enabled_events", json!([])), "too_short"),
        (Set("/enabled_events", json!(vec!["*"; 65])), "too_long"),
        (Each("/enabled_events/1", json!(["order.exploded", "invoice.*"])), "invalid_value"),
        (Set("/enabled_events/1", json!("*")), ""),
        (Set("/status", json!("paused")), "invalid_value"),
        (Set("/api_version", json!("2020-01-01")), "invalid_value"),
        (Set("/api_version", json!(verify_core::API_VERSION)), ""),
        (Set("/description", json!("x".repeat(256))), "too_long"),
        (Each("/signature_profile", json!(["service", "standard-webhooks"])), ""),
        (Set("/signature_profile", json!("standard_webhooks")), "invalid_value"),
        (Set("/signature_profile", json!(null)), "required"),
        (Set("/signature_profile", json!(1)), "wrong_type"),
        (Each("/headers", json!([{"Authorization": "Bearer x", "x-tenant": "7"}, {}, null])), ""),
        (Set("/headers", json!([])), "wrong_type"),
        (Set("/headers", json!({"Host": "x"})), "/headers/Host invalid_value"),
        (Set("/headers", json!({"a": "x\r\ny: z"})), "/headers/a invalid_value"),
        (Set("/header_names", json!(["a"])), "field_not_writable"),
        (Each("/timeout_ms", json!([1000, 30_000, null])), ""),
        (Each("/timeout_ms", json!([999, 30_001])), "out_of_range"),
        (Each("/timeout_ms", json!(["1000", 1000.5])), "wrong_type"),
        (Each("/retry_schedule", json!(["standard", "short", "long"])), ""),
        (Set("/retry_schedule", json!("never")), "invalid_value"),
        (Set("/retry_schedule", json!(null)), "required"),
        (Set("/secret", json!("whsec_x")), "field_not_writable"),
        (Set("/health", json!({})), "field_not_writable"),
        (Set("/method", json!("PUT")), "unknown_field"),
        // Well-formed, and still no place to send events to: contract 7.6.
        (Set("/url", json!("http://shop.example.com")), "url_scheme"),
        (Set("/url", json!("https://u:p@shop.example.com")), "url_userinfo"),
        (Set("/url", json!("https://127.0.0.1/")), "url_host"),
        (Set("/url", json!("https://shop.local/")), "url_host_denied"),
        (Set("/url", json!("https://shop.example.com:80/")), "url_port"),
        (Set("/url", json!("https://shop.example.com/#x")), "url_fragment"),
        (Set("/url", json!("shop")), "invalid_url"),
    ];
    check(&good, endpoint, &table);
    let refusal = endpoint(&json!({"url": "https://localhost"})).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::EndpointUrlForbidden);
    // The form of the body comes first: nobody learns of the URL's rules while another member is wrong.
    let refusal = endpoint(&json!({"url": "https://localhost", "x": 1})).unwrap_err();
    assert_eq!(errors(&refusal), ["/x unknown_field"]);
}

#[test]
fn an_endpoint_begins_unknown_and_as_it_was_asked() {
    let make = |body: Value| {
        let id = EndpointId::generate(noon(), &mut dice());
        endpoint(&body).unwrap().into_endpoint(id, "…q3M".into(), true, noon())
    };
    let made =
        make(json!({"url": "https://SHOP.example.com", "enabled_events": ["order.*", "*", "order.*"]}));
    assert_eq!(made.url, "https://shop.example.com/");
    assert_eq!(made.enabled_events, ["*", "order.*"]);
    assert_eq!((made.status, made.disabled_reason, made.disabled_at), (EndpointStatus::Enabled, None, None));
    assert_eq!(make(json!({"url": "https://shop.example.com"})).enabled_events, ["*"]);
    assert_eq!(make(json!({"url": "https://shop.example.com"})).signature_profile, SignatureProfile::Service);
    for profile in SignatureProfile::ALL {
        let made = make(json!({"url": "https://shop.example.com", "signature_profile": profile}));
        assert_eq!(made.signature_profile, *profile);
        // The core, which makes secrets and signatures, knows it by the same word.
        assert_eq!(profile.of_core().as_str(), profile.as_str());
    }
    let plain = make(json!({"url": "https://shop.example.com"}));
    assert_eq!((plain.header_names, plain.timeout_ms), (vec![], None));
    assert_eq!(plain.retry_schedule, RetrySchedule::Standard);
    let asked = json!({"url": "https://shop.example.com", "headers": {"X-B": "s3cr3t", "a": "s3cr3t"},
        "timeout_ms": 2000, "retry_schedule": "long"});
    let request = endpoint(&asked).unwrap();
    assert_eq!(request.headers().iter().collect::<Vec<_>>(), [("a", "s3cr3t"), ("x-b", "s3cr3t")]);
    let made = make(asked);
    assert_eq!(
        (made.header_names.as_slice(), made.timeout_ms),
        (&["a".to_owned(), "x-b".to_owned()][..], Some(2000))
    );
    assert_eq!(made.retry_schedule, RetrySchedule::Long);
    assert!(!format!("{request:?} {made:?}").contains("s3cr3t"));
    let disabled = make(json!({"url": "https://shop.example.com", "status": "disabled"}));
    assert_eq!(disabled.disabled_reason, Some(DisabledReason::Merchant));
    assert_eq!(disabled.disabled_at, Some(noon()));
}

#[test]
fn endpoint_tests() {
    assert_eq!(EndpointTestRequest::read(&json!({})).unwrap().message, None);
    let good = json!({"message": "hello"});
    let table = [
        (Drop("/message"), ""),
        (Set("/message", json!("x".repeat(200))), ""),
        (Set("/message", json!("x".repeat(201))), "too_long"),
        (Set("/type", json!("order.created")), "unknown_field"),
    ];
    check(&good, EndpointTestRequest::read, &table);
}
