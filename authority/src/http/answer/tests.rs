//! The common parts of every answer, tested through a dressed router.

use std::time::Duration;

use authority_domain::MemberCode;
use authority_domain::refusal::MemberError;
use axum::body::Body;
use axum::routing::{get, post};
use http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;

/// A clock that stands still, and dice that always return the same byte.
struct Still;

impl Clock for Still {
    fn now_ms(&self) -> i64 {
        1_788_264_000_000
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

impl Dice for Still {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0x5a);
    }
}

fn door(tls: Tls) -> Arc<Door> {
    let problems = ProblemWriter::new("merchant-api", None);
    Arc::new(Door {
        clock: Arc::new(Still),
        dice: Arc::new(Still),
        problems,
        tls,
        metrics: Arc::default(),
        traces: Traces::default(),
    })
}

/// A router with one handler that refuses.
fn refusing(refusal: Refusal) -> Router {
    Router::new().route("/", get(async move || Problem(refusal.clone())))
}

async fn ask(router: Router, method: Method, path: &str) -> (http::response::Parts, Vec<u8>) {
    let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
    let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
    (parts, body.collect().await.unwrap().to_bytes().to_vec())
}

async fn refused(refusal: Refusal) -> (http::response::Parts, Value) {
    let (parts, body) = ask(dress(refusing(refusal), door(Tls::Absent)), Method::GET, "/").await;
    (parts, serde_json::from_slice(&body).unwrap())
}

fn request_id() -> String {
    request_id::generate(&Still, &Still).to_string()
}

#[tokio::test]
async fn unknown_routes_and_methods_are_problems_and_head_follows_get() {
    let router = || {
        let routes = Router::new().route("/orders", get(async || "orders").post(async || "made"));
        let nested = Router::new().route("/deep", post(async || "deep"));
        dress(routes.nest("/v1", nested), door(Tls::Absent))
    };
    let table = [
        (Method::GET, "/orders", 200, None),
        (Method::HEAD, "/orders", 200, None),
        (Method::POST, "/orders", 200, None),
        (Method::GET, "/orders/", 404, Some("route_not_found")),
        (Method::GET, "/Orders", 404, Some("route_not_found")),
        (Method::OPTIONS, "/nowhere", 404, Some("route_not_found")),
        (Method::GET, "/v1/nowhere", 404, Some("route_not_found")),
        (Method::PUT, "/orders", 405, Some("method_not_allowed")),
        (Method::OPTIONS, "/orders", 405, Some("method_not_allowed")),
        (Method::TRACE, "/orders", 405, Some("method_not_allowed")),
        (Method::from_bytes(b"BREW").unwrap(), "/orders", 405, Some("method_not_allowed")),
        (Method::GET, "/v1/deep", 405, Some("method_not_allowed")),
    ];
    for (method, path, status, code) in table {
        let (parts, body) = ask(router(), method.clone(), path).await;
        assert_eq!(parts.status, status, "{method} {path}");
        assert_eq!(parts.headers[SERVICE_REQUEST_ID], request_id().as_str(), "{method} {path}");
        if let Some(code) = code {
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["code"], code, "{method} {path}");
            assert_eq!(parts.headers[CONTENT_TYPE], "application/problem+json");
        }
        let allowed = if path == "/v1/deep" { "POST" } else { "GET,HEAD,POST" };
        assert_eq!(parts.headers.get(ALLOW).map(|v| v.to_str().unwrap()), (status == 405).then_some(allowed));
    }
    let (parts, body) = ask(router(), Method::HEAD, "/orders").await;
    assert_eq!((parts.headers[CONTENT_LENGTH].to_str().unwrap(), body.len()), ("6", 0));
    let (parts, body) = ask(router(), Method::HEAD, "/nowhere").await;
    assert_eq!((parts.status.as_u16(), body.len()), (404, 0));
    assert_ne!(parts.headers[CONTENT_LENGTH], "0");
}

#[tokio::test]
async fn the_problem_body_is_the_contract_s() {
    let refusal = Refusal::new(
        ErrorCode::ResourceVersionConflict,
        "The order is at version 8; the request was made for version 7.",
    )
    .with("current_version", 8)
    .with("supplied_version", 7);
    let (parts, body) = ask(dress(refusing(refusal), door(Tls::Absent)), Method::GET, "/").await;
    let expected = format!(
        "{{\"type\":\"urn:service:error:resource_version_conflict\",\"title\":\"Resource version conflict\",\
         \"status\":409,\"code\":\"resource_version_conflict\",\
         \"detail\":\"The order is at version 8; the request was made for version 7.\",\
         \"request_id\":\"{}\",\"current_version\":8,\"supplied_version\":7}}",
        request_id()
    );
    assert_eq!(String::from_utf8(body).unwrap(), expected);
    assert_eq!(parts.headers[CONTENT_LENGTH], expected.len().to_string().as_str());
}

#[tokio::test]
async fn members_parameters_and_waits_are_told() {
    let members =
        vec![MemberError { pointer: "/a/0".into(), code: MemberCode::Required, detail: "It is.".into() }];
    let (_, body) = refused(Refusal::of_members(members)).await;
    assert_eq!(body["errors"], json!([{"pointer": "/a/0", "code": "required", "detail": "It is."}]));
    let (parts, body) = refused(Refusal::new(ErrorCode::InvalidParameter, "").param("limit")).await;
    assert_eq!((body["param"].as_str(), body.get("errors")), (Some("limit"), None));
    assert_eq!(parts.headers.get(RETRY_AFTER), None);
    let (parts, _) = refused(Refusal::unavailable(3)).await;
    assert_eq!((parts.status.as_u16(), parts.headers[RETRY_AFTER].to_str().unwrap()), (503, "3"));
}

#[tokio::test]
async fn every_code_has_its_status() {
    for code in ErrorCode::ALL {
        let (parts, body) = refused(Refusal::new(*code, "")).await;
        assert_eq!(parts.status.as_u16(), code.status());
        assert_eq!((&body["status"], &body["code"]), (&json!(code.status()), &json!(code.as_str())));
        assert_eq!(body["type"], format!("urn:service:error:{code}"));
    }
}

#[tokio::test]
async fn challenges_follow_rfc_6750() {
    let scope = Refusal::new(ErrorCode::InsufficientScope, "")
        .with("required_scopes", json!(["webhooks:manage", "events:read"]));
    let table = [
        (Refusal::new(ErrorCode::MissingCredential, ""), Some("Bearer realm=\"merchant-api\"")),
        (
            Refusal::new(ErrorCode::InvalidApiKey, ""),
            Some("Bearer realm=\"merchant-api\", error=\"invalid_token\""),
        ),
        (
            Refusal::new(ErrorCode::ExpiredApiKey, ""),
            Some("Bearer realm=\"merchant-api\", error=\"invalid_token\""),
        ),
        (
            scope,
            Some(
                "Bearer realm=\"merchant-api\", error=\"insufficient_scope\", scope=\"webhooks:manage events:read\"",
            ),
        ),
        (Refusal::new(ErrorCode::MerchantSuspended, ""), None),
        (Refusal::not_found("order"), None),
    ];
    for (refusal, expected) in table {
        let (parts, _) = refused(refusal.clone()).await;
        let challenge = parts.headers.get(WWW_AUTHENTICATE).map(|value| value.to_str().unwrap());
        assert_eq!(challenge, expected, "{refusal}");
    }
}

#[tokio::test]
async fn a_panic_is_a_500_that_tells_nothing() {
    let router = Router::new().route("/", get(async || -> &'static str { panic!("svc_live_secret") }));
    let (parts, body) = ask(dress(router, door(Tls::Absent)), Method::GET, "/").await;
    assert_eq!(parts.status, StatusCode::INTERNAL_SERVER_ERROR);
    let text = String::from_utf8(body).unwrap();
    assert!(text.contains("\"code\":\"internal_error\"") && !text.contains("svc_live"), "{text}");
    assert_eq!(parts.headers[SERVICE_REQUEST_ID], request_id().as_str());
}

#[tokio::test]
async fn the_headers_are_on_every_answer() {
    for tls in [Tls::Absent, Tls::InFront] {
        for path in ["/", "/nowhere"] {
            let router = dress(Router::new().route("/", get(async || "ok")), door(tls));
            let (parts, _) = ask(router, Method::GET, path).await;
            assert_eq!(parts.headers[CACHE_CONTROL], "no-store");
            assert_eq!(parts.headers[X_CONTENT_TYPE_OPTIONS], "nosniff");
            assert_eq!(parts.headers.contains_key(STRICT_TRANSPORT_SECURITY), tls == Tls::InFront);
            assert!(!parts.headers.keys().any(|name| name.as_str().starts_with("access-control")));
        }
    }
}

#[tokio::test]
async fn the_handler_knows_the_request_id() {
    let echo = async |axum::Extension(id): axum::Extension<RequestId>| id.to_string();
    let router = dress(Router::new().route("/", get(echo)), door(Tls::Absent));
    let (parts, body) = ask(router, Method::GET, "/").await;
    assert_eq!(parts.headers[SERVICE_REQUEST_ID].as_bytes(), body);
    assert!(verify_core::id::is_issued("req", std::str::from_utf8(&body).unwrap()));
}
