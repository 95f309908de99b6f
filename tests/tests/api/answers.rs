//! What every answer has (contract 1, 4.4, 5.4): headers, versions, places, and the shape of a list.

use http::Method;
use serde_json::json;
use tests::{Merchant, Receiver, Reply, rows, shipments, text, texts};

/// The headers of an authenticated answer.
fn check_headers(reply: &Reply, policy: Option<&str>) {
    let request_id = reply.header("service-request-id").unwrap();
    assert!(request_id.starts_with("req_") && request_id.len() == 30, "{request_id}");
    for (name, value) in [
        ("service-version", Some("2026-09-01")),
        ("cache-control", Some("no-store")),
        ("x-content-type-options", Some("nosniff")),
        ("strict-transport-security", None),
        ("access-control-allow-origin", None),
        ("set-cookie", None),
        ("ratelimit-policy", policy),
    ] {
        assert_eq!(reply.header(name), value, "{name}");
    }
    assert_eq!(reply.header("ratelimit").is_some(), policy.is_some());
}

#[tokio::test]
async fn every_answer_says_what_it_is() {
    let variables =
        [("AUTHORITY_RATE_LIMITS", "on"), ("AUTHORITY_BASE_URL", "https://api.example.com/commerce/")];
    let (authority, merchant) = Merchant::alone_with(&variables, "answers").await;
    let receiver = Receiver::accepting().await;
    let (read, write) = (Some("\"read\";q=25;w=1"), Some("\"write\";q=10;w=1"));
    let number = merchant.paid_order().await;

    let body = json!({ "url": receiver.url("/hook") });
    let made = merchant.api.post("/webhook-endpoints", &body).await;
    let id = text(&made.expect(201), "id");
    let place = format!("https://api.example.com/commerce/v1/merchant/webhook-endpoints/{id}");
    assert_eq!((made.header("location"), made.header("etag")), (Some(&*place), Some("\"1\"")));
    let shipped = merchant.api.post(&shipments(&number), &json!({ "carrier": "dhl" })).await;
    let shipment = text(&shipped.expect(201), "id");
    assert_eq!(shipped.header("ratelimit-policy"), write);
    // The endpoint's health is part of its record: let the deliveries end.
    authority.nothing_pending().await;

    for (path, etag) in [
        (format!("/orders/{number}"), Some("\"3\"")),
        (format!("/shipments/{shipment}"), Some("\"1\"")),
        (format!("/webhook-endpoints/{id}"), Some("\"1\"")),
        ("/orders".to_owned(), None),
        ("/events".to_owned(), None),
        ("/orders/ORD-1".to_owned(), None),
    ] {
        let got = merchant.api.get(&path).await;
        assert_eq!(got.header("etag"), etag, "{path}");
        assert_eq!(got.header("ratelimit-policy"), read, "{path}");
        // As the base URL says, clients come by TLS, and are told to stay with it.
        assert_eq!(got.header("strict-transport-security"), Some("max-age=31536000"));
        let head = merchant.api.call(Method::HEAD, &path).send().await;
        assert_eq!((head.status, &*head.body), (got.status, &b""[..]), "{path}");
        for name in ["content-type", "etag", "content-length"] {
            assert_eq!(head.header(name), got.header(name), "{name} of {path}");
        }
    }
}

#[tokio::test]
async fn the_usual_headers_without_tls_and_limits() {
    let (_authority, merchant) = Merchant::alone("plain").await;
    let number = merchant.paid_order().await;
    for path in ["/orders", "/orders/ORD-1", "/events?limit=0", &format!("/orders/{number}")] {
        check_headers(&merchant.api.get(path).await, None);
    }
    let versioned =
        merchant.api.call(Method::GET, "/orders").header("service-version", "2026-09-01").send().await;
    versioned.expect(200);
    check_headers(&versioned, None);
    let shipped = merchant.api.post(&shipments(&number), &json!({ "carrier": "dhl" })).await;
    check_headers(&shipped, None);
    assert_eq!(shipped.header("content-type"), Some("application/json"));
    // Each answer has a request id of its own.
    let ids = [merchant.api.get("/orders").await, merchant.api.get("/orders").await]
        .map(|reply| reply.header("service-request-id").unwrap().to_owned());
    assert_ne!(ids[0], ids[1]);
}

/// Newest first, 25 to a page, no `next_cursor` on the last one (contract 4.5).
#[tokio::test]
async fn lists_are_read_page_by_page() {
    let (_authority, merchant) = Merchant::alone("lists").await;
    let mut numbers = Vec::new();
    for _ in 0..26 {
        numbers.push(merchant.paid_order().await);
    }
    numbers.reverse();
    let read = async |query: &str| {
        let page = merchant.api.get(&format!("/orders{query}")).await.expect(200);
        let numbers = texts(rows(&page), "order_number");
        let mut members: Vec<_> = page.as_object().unwrap().keys().cloned().collect();
        members.sort();
        (numbers, page["next_cursor"].as_str().map(str::to_owned), members)
    };
    let (first, next, members) = read("").await;
    assert_eq!(
        (first.as_slice(), members),
        (&numbers[..25], vec!["data".to_owned(), "next_cursor".to_owned()])
    );
    let (second, end, members) = read(&format!("?cursor={}", next.unwrap())).await;
    assert_eq!((second.as_slice(), end, members), (&numbers[25..], None, vec!["data".to_owned()]));
    let (full, end, _) = read("?limit=26").await;
    assert_eq!((full, end), (numbers.clone(), None));
    // What comes later does not move what a cursor stands behind.
    let (_, next, _) = read("?limit=10").await;
    merchant.paid_order().await;
    assert_eq!(read(&format!("?limit=100&cursor={}", next.unwrap())).await.0, numbers[10..]);
    for (filter, count) in [
        ("status=confirmed", 27),
        ("status=pending,cancelled", 0),
        ("payment_status=paid&fulfillment_status=unfulfilled", 27),
        ("created_to=2020-01-01T00:00:00Z", 0),
        ("created_from=2020-01-01T00:00:00%2B02:00", 27),
        ("customer_reference=c-77", 0),
    ] {
        assert_eq!(read(&format!("?limit=100&{filter}")).await.0.len(), count, "{filter}");
    }
}

/// What a platform demands of all its merchants, and where it documents the codes (contract 4.3, 5.1).
#[tokio::test]
async fn a_platform_demands_keys_and_documents_codes() {
    let variables = [
        ("AUTHORITY_REQUIRE_IDEMPOTENCY_KEY", "true"),
        ("AUTHORITY_PROBLEM_BASE_URL", "https://docs.example.com/errors/"),
    ];
    let (authority, merchant) = Merchant::alone_with(&variables, "strict").await;
    let receiver = Receiver::accepting().await;
    let body = json!({ "url": receiver.url("/hook") });
    for (refused, status, code, param) in [
        (
            merchant.api.post("/webhook-endpoints", &body).await,
            400,
            "idempotency_key_required",
            json!("Idempotency-Key"),
        ),
        (merchant.api.get("/orders/ORD-1").await, 404, "not_found", json!(null)),
        (authority.operator().get("/merchants/mer_gone").await, 404, "not_found", json!(null)),
    ] {
        let problem = refused.expect(status);
        assert_eq!((problem["code"].as_str(), &problem["param"]), (Some(code), &param), "{problem}");
        assert_eq!(problem["type"], format!("https://docs.example.com/errors/{code}"));
    }
    merchant.api.post_as("one", "/webhook-endpoints", &body).await.expect(201);
    // The platform's own writes need no key.
    let other = json!({ "slug": "other", "name": "Other", "default_currency": "EUR" });
    authority.operator().post("/merchants", &other).await.expect(201);
}
