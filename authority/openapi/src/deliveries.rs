//! What all deliveries have: the headers of the request, and what the receiver's answer means (contract 7, 11).

use authority_domain::bounds::EVENT_BYTES_MAX;
use authority_domain::delivery::retry::{MAX_ATTEMPTS, STANDARD_SCHEDULE_S};
use serde_json::{Map, Value, json};
use verify_core::catalog::API_VERSION;
use verify_core::standard_webhooks;

/// What the signature is called among the security schemes.
pub(crate) const SCHEME: &str = "webhookSignature";

/// The statuses that have a meaning, and the answer that each refers to.
const ANSWERS: [(&str, &str); 9] = [
    ("2XX", "WebhookTaken"),
    ("408", "WebhookToBeRetried"),
    ("409", "WebhookToBeRetried"),
    ("410", "WebhookGone"),
    ("425", "WebhookToBeRetried"),
    ("429", "WebhookToBeRetriedLater"),
    ("503", "WebhookToBeRetriedLater"),
    ("5XX", "WebhookToBeRetried"),
    ("default", "WebhookRefused"),
];

/// The headers, by reference.
pub(crate) fn parameters() -> Vec<Value> {
    headers()
        .into_iter()
        .chain(optional_headers())
        .map(|(name, _)| json!({ "$ref": format!("#/components/parameters/{name}") }))
        .collect()
}

/// The answers, by reference.
pub(crate) fn responses() -> Map<String, Value> {
    let reference = |name: &str| json!({ "$ref": format!("#/components/responses/{name}") });
    ANSWERS.iter().map(|(status, name)| ((*status).to_owned(), reference(name))).collect()
}

/// How a receiver knows that a delivery is one.
pub(crate) fn scheme() -> Value {
    json!({
        "type": "apiKey",
        "in": "header",
        "name": "Service-Signature",
        "description": "HMAC-SHA256 of `Service-Timestamp`, a full stop and the exact bytes of the body, with the signing \
                        secret of the endpoint (the whole text, `whsec_…`), in lowercase hexadecimal behind `v1=`. Verify it \
                        over the bytes before they are parsed, refuse a timestamp that is more than 300 seconds away, and \
                        compare the body's `id` with `Service-Event-Id`.",
    })
}

/// The headers that deliveries refer to; the body says its `Content-Type`.
pub(crate) fn headers() -> [(String, Value); 8] {
    let text = |pattern: &str, example: &str| json!({ "schema": { "type": "string", "pattern": pattern }, "example": example });
    let number = |most: usize, example: u32| json!({ "schema": { "type": "integer", "minimum": 1, "maximum": most }, "example": example });
    let members = [
        (
            "DeliveryEventId",
            "Service-Event-Id",
            "The id of the event: a copy, to be compared with the body's `id`.",
            text("^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$", "evt_01k3zqa7t0e9h8w8r1v0c2n5xk"),
        ),
        (
            "DeliveryTimestamp",
            "Service-Timestamp",
            "When this attempt was signed, in Unix seconds; signed with the body.",
            text("^[0-9]{10}$", "1788264000"),
        ),
        (
            "DeliverySignature",
            "Service-Signature",
            "The signature with the newest secret and, while two overlap, with the one before it. One that matches suffices.",
            text("^v1=[0-9a-f]{64}(,v1=[0-9a-f]{64})*$", &format!("v1={}", "5a".repeat(32))),
        ),
        (
            "DeliveryVersion",
            "Service-Version",
            "The version that the event was serialised with: an unsigned copy of `api_version`.",
            text("^[0-9]{4}-[0-9]{2}-[0-9]{2}$", API_VERSION),
        ),
        (
            "DeliveryId",
            "Service-Delivery-Id",
            "The delivery, for support: an unsigned hint to decide nothing by.",
            text("^dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$", "dlv_01k3zqa7t0e9h8w8r1v0c2n5xk"),
        ),
        (
            "DeliveryAttempt",
            "Service-Attempt",
            "Which attempt of the delivery this is: an unsigned hint to decide nothing by.",
            number(MAX_ATTEMPTS, 1),
        ),
        (
            "DeliveryLength",
            "Content-Length",
            "Always there: a delivery is never chunked.",
            number(EVENT_BYTES_MAX, 2048),
        ),
        ("DeliveryUserAgent", "User-Agent", "Who sends.", text("^Service-Webhooks/1$", "Service-Webhooks/1")),
    ];
    let written = |(component, name, description, value): (&str, &str, &str, Value)| {
        let header = json!({ "name": name, "in": "header", "required": true, "description": description,
            "schema": value["schema"], "example": value["example"] });
        (component.to_owned(), header)
    };
    members.map(written)
}

/// The headers that only some deliveries have: the trace of the request that caused the event (contract 15.11), and
/// what endpoints of the profile `standard-webhooks` get (contract 15.12).
pub(crate) fn optional_headers() -> [(String, Value); 4] {
    const OF_THE_PROFILE: &str = "Only where the endpoint's `signature_profile` is `standard-webhooks`.";
    let members = [
        (
            "DeliveryTraceparent",
            "traceparent",
            "The span to go on from (W3C Trace Context); not signed.",
            "Only where the request that caused the event had one, or where this service records traces.",
            "^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_owned(),
        ),
        (
            "StandardWebhookId",
            standard_webhooks::EVENT_ID,
            "The id of the event, the same in every attempt; signed with the body.",
            OF_THE_PROFILE,
            "^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$",
            "evt_01k3zqa7t0e9h8w8r1v0c2n5xk".to_owned(),
        ),
        (
            "StandardWebhookTimestamp",
            standard_webhooks::TIMESTAMP,
            "The same instant as `Service-Timestamp`; signed with the body.",
            OF_THE_PROFILE,
            "^[0-9]{10}$",
            "1788264000".to_owned(),
        ),
        (
            "StandardWebhookSignature",
            standard_webhooks::SIGNATURE,
            "HMAC-SHA256 of id, timestamp and body with full stops between them, in base64 behind `v1,`; the key is what \
             the secret has in base64 behind `whsec_`. Two while two secrets overlap, the newest first.",
            OF_THE_PROFILE,
            "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$",
            format!("v1,{}Wlo=", "Wlpa".repeat(10)),
        ),
    ];
    members.map(|(component, name, description, condition, pattern, example)| {
        let header = json!({ "name": name, "in": "header", "required": false,
            "description": format!("{description} {condition}"),
            "schema": { "type": "string", "pattern": pattern }, "example": example });
        (component.to_owned(), header)
    })
}

/// The answers that deliveries refer to. Nothing is read from a body: its beginning is shown with the attempt.
pub(crate) fn answers() -> Map<String, Value> {
    let attempts = STANDARD_SCHEDULE_S.len();
    let wish = json!({ "Service-Delivery": {
        "description": "A wish: `abort` ends this delivery, `disable` disables the endpoint.",
        "schema": { "type": "string", "enum": ["abort", "disable"] },
    } });
    let mut later = wish.clone();
    later["Retry-After"] = json!({
        "description": "When to come back: seconds, or an HTTP date; at most a day. It holds for the whole endpoint.",
        "schema": { "type": "string" },
        "example": "120",
    });
    let members = [
        (
            "WebhookTaken",
            "Taken: the delivery has succeeded. Answer so once the id of the event is durably claimed, and also when it \
             was claimed before."
                .to_owned(),
            json!({}),
        ),
        (
            "WebhookGone",
            "Not wanted any more: the delivery has failed, and the endpoint is disabled (`gone`).".to_owned(),
            wish.clone(),
        ),
        (
            "WebhookToBeRetried",
            format!(
                "Not now: the delivery is tried again, {attempts} times in all over three days unless the service is set \
                 otherwise or the endpoint has another `retry_schedule`. The same holds where no answer comes."
            ),
            wish.clone(),
        ),
        (
            "WebhookToBeRetriedLater",
            format!(
                "Not now, and nothing else either: the endpoint is left alone for a while, then the delivery is tried \
                 again, {attempts} times in all unless the service is set otherwise."
            ),
            later,
        ),
        (
            "WebhookRefused",
            "Refused: the delivery is tried again, four times in all unless the service is set otherwise. Redirects are \
             not followed."
                .to_owned(),
            wish,
        ),
    ];
    let written = |(name, description, headers): (&str, String, Value)| {
        (name.to_owned(), json!({ "description": description, "headers": headers }))
    };
    members.map(written).into_iter().collect()
}
