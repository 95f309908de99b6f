//! Requests that cannot be read: target, headers, parameters, body (contract 4.2 rows 1 and 7 to 11).

use http::Method;
use serde_json::{Value, json};
use tests::{Call, Shop, shipments};

use super::get;

/// A request for a shipment of everything that is left, still without a body.
fn ship(shop: &Shop) -> Call {
    shop.merchant.api.call(Method::POST, &shipments(&shop.order))
}

/// With this body it would be accepted.
fn parcel() -> Value {
    json!({ "carrier": "dhl" })
}

/// Request lines, headers and parameters.
pub(super) async fn targets_and_headers(shop: &mut Shop) {
    let api = shop.merchant.api.clone();
    let invalid = |param: &str| json!({ "param": param });
    for (query, param) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=5&limit=5", "limit"),
        ("status=paid", "status"),
        ("created_from=yesterday", "created_from"),
    ] {
        let call = get(&api, &format!("/orders?{query}"));
        shop.refuses(call, 400, "invalid_parameter", invalid(param)).await;
    }
    shop.refuses(get(&api, "/orders?crusor=x"), 400, "unknown_parameter", invalid("crusor")).await;
    shop.refuses(get(&api, "/orders/ORD-100001?limit=1"), 400, "unknown_parameter", invalid("limit")).await;
    shop.refuses(get(&api, "/events?cursor=x"), 400, "invalid_cursor", invalid("cursor")).await;

    let long = "k".repeat(256);
    for key in ["", "a b", &long] {
        let call = ship(shop).json(&parcel()).header("idempotency-key", key);
        shop.refuses(call, 400, "invalid_idempotency_key", invalid("Idempotency-Key")).await;
    }
    let call = ship(shop).json(&parcel()).header("idempotency-key", "a").header("idempotency-key", "a");
    shop.refuses(call, 400, "invalid_idempotency_key", invalid("Idempotency-Key")).await;
    for version in ["abc", "\"abc\"", "07", "+7", "-1", "\"1\", \"2\"", "9007199254740992", ""] {
        let call = ship(shop).json(&parcel()).header("if-match", version);
        shop.refuses(call, 400, "invalid_if_match", invalid("If-Match")).await;
    }
    let call = get(&api, "/orders").header("service-version", "2020-01-01");
    let facts = json!({ "param": "Service-Version", "supported": ["2026-09-01"] });
    shop.refuses(call, 400, "unsupported_api_version", facts).await;

    let call = get(&api, &format!("/orders?customer_reference={}", "r".repeat(8 * 1024)));
    shop.refuses(call, 414, "uri_too_long", json!({})).await;
    let call = get(&api, "/orders").header("x-long", &"h".repeat(33 * 1024));
    shop.refuses(call, 431, "request_header_fields_too_large", json!({})).await;
}

/// Size, media type and JSON of bodies.
pub(super) async fn bodies(shop: &mut Shop) {
    shop.refuses(ship(shop), 400, "body_required", json!({})).await;
    let nested = format!("{}{}", "[".repeat(65), "]".repeat(65));
    for text in ["{", "{\"carrier\":\"a\",\"carrier\":\"b\"}", &nested, "\u{feff}{}", "{} {}"] {
        let call = ship(shop).header("content-type", "application/json").bytes(text.to_owned());
        shop.refuses(call, 400, "invalid_json", json!({})).await;
    }
    let call =
        ship(shop).header("content-type", "application/json").bytes(b"{\"carrier\":\"\xff\"}".to_vec());
    shop.refuses(call, 400, "invalid_json", json!({})).await;
    let large = json!({ "carrier": "x".repeat(256 * 1024) });
    shop.refuses(ship(shop).json(&large), 413, "payload_too_large", json!({})).await;
    for media_type in ["text/plain", "application/json; charset=latin1", "application/merge-patch+json"] {
        let call = ship(shop).header("content-type", media_type).bytes("{}");
        shop.refuses(call, 415, "unsupported_media_type", json!({})).await;
    }
    shop.refuses(ship(shop).bytes("{}"), 415, "unsupported_media_type", json!({})).await;
    let call = ship(shop).json(&parcel()).header("content-encoding", "gzip");
    shop.refuses(call, 415, "unsupported_media_type", json!({})).await;
}
