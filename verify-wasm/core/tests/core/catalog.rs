//! The closed lists: event names (the brief's catalog), statuses of receivers (contract 11.1), header names.

use verify_core::{API_VERSION, CONTRACT_VERSION, EventType, Verdict, VerificationCode, header, receiver};

const CATALOG: &str = "\
webhook.test \
checkout.created checkout.completed checkout.expired checkout.cancelled checkout.payment_failed \
payment.created payment.pending payment.authorized payment.succeeded payment.failed payment.cancelled \
payment.refunded payment.partially_refunded \
order.created order.confirmed order.updated order.cancelled order.fulfilled order.shipped order.delivered \
order.shared order.share_revoked \
refund.requested refund.processing refund.completed refund.failed \
shipment.created shipment.updated shipment.delivered \
subscription.created subscription.updated subscription.cancelled";

#[test]
fn the_catalog_is_the_briefs() {
    let names: Vec<_> = EventType::ALL.iter().map(|event| event.as_str()).collect();
    assert_eq!(names, CATALOG.split(' ').collect::<Vec<_>>());
    for event in EventType::ALL {
        assert_eq!(EventType::parse(event.as_str()), Some(event));
        assert_eq!(event.to_string(), event.as_str());
    }
    for unknown in ["", "order", "order.", "order.*", "Order.created", "order.created ", "order.archived"] {
        assert_eq!(EventType::parse(unknown), None, "{unknown:?}");
    }
}

#[test]
fn categories_and_their_sizes() {
    let count = |category| EventType::ALL.iter().filter(|event| event.category() == category).count();
    let sizes = ["webhook", "checkout", "payment", "order", "refund", "shipment", "subscription"].map(count);
    assert_eq!(sizes, [1, 5, 8, 9, 4, 3, 3]);
}

#[test]
fn versions_and_header_names() {
    assert_eq!((API_VERSION, CONTRACT_VERSION), ("2026-09-01", "0.2.0"));
    assert_eq!(
        [header::EVENT_ID, header::TIMESTAMP, header::SIGNATURE, header::VERSION],
        ["Service-Event-Id", "Service-Timestamp", "Service-Signature", "Service-Version"]
            .map(str::to_ascii_lowercase)
    );
}

#[test]
fn a_receivers_answers() {
    use VerificationCode as Code;
    let fixed = [
        (Verdict::First, 200, r#"{"code":"ok"}"#),
        (Verdict::Duplicate, 200, r#"{"code":"duplicate"}"#),
        (Verdict::TooLarge, 413, r#"{"code":"payload_too_large"}"#),
        (Verdict::MethodNotAllowed, 405, r#"{"code":"method_not_allowed"}"#),
        (Verdict::UnsupportedMediaType, 415, r#"{"code":"unsupported_media_type"}"#),
        (Verdict::StorageUnavailable, 503, r#"{"code":"storage_unavailable"}"#),
        (Verdict::Rejected(Code::EventIdMismatch), 400, r#"{"code":"event_id_mismatch"}"#),
    ];
    for (verdict, status, body) in fixed {
        assert_eq!((verdict.status(), verdict.body().as_str()), (status, body));
    }
    for code in Code::ALL {
        let expected = match code {
            Code::MissingSignature | Code::InvalidSignature | Code::StaleTimestamp => 401,
            Code::InvalidSecret => 503,
            _ => 400,
        };
        assert_eq!(Verdict::Rejected(code).status(), expected, "{code}");
        assert_eq!(Verdict::Rejected(code).code(), code.as_str());
    }
    assert_eq!(receiver::BODY_LIMIT, 1_048_576);
}
