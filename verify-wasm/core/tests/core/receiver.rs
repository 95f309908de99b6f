//! What receivers share: the judgement of a head, the record of an event, the states of its life (contract 11).

use verify_core::receiver::{Claimed, Head, Record, Status, admit, declared_length};
use verify_core::{Verdict, event};

const DELIVERY: Head<'_> = Head {
    method: "POST",
    content_type: Some("application/json"),
    content_encoding: None,
    declared_length: Some(161),
};

#[test]
fn the_first_objection_is_the_answer() {
    use Verdict::{MethodNotAllowed, TooLarge, UnsupportedMediaType};
    let wrong = Head {
        method: "GET",
        content_type: None,
        content_encoding: Some("gzip"),
        declared_length: Some(1_048_577),
    };
    for (head, expected) in [
        (DELIVERY, Ok(())),
        (Head { declared_length: None, ..DELIVERY }, Ok(())),
        (Head { declared_length: Some(1_048_576), ..DELIVERY }, Ok(())),
        (Head { declared_length: Some(1_048_577), ..DELIVERY }, Err(TooLarge)),
        (Head { declared_length: Some(u64::MAX), ..DELIVERY }, Err(TooLarge)),
        (
            Head { content_type: None, declared_length: Some(1_048_577), ..DELIVERY },
            Err(UnsupportedMediaType),
        ),
        (Head { content_encoding: Some("br"), ..DELIVERY }, Err(UnsupportedMediaType)),
        (Head { method: "post", ..DELIVERY }, Err(MethodNotAllowed)),
        (Head { method: "", ..DELIVERY }, Err(MethodNotAllowed)),
        (wrong, Err(MethodNotAllowed)),
    ] {
        assert_eq!(admit(&head), expected, "{head:?}");
    }
}

#[test]
fn media_types() {
    let admitted = |content_type| admit(&Head { content_type: Some(content_type), ..DELIVERY }).is_ok();
    for accepted in [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=utf-8",
        " application/json\t; a=b; c=d",
    ] {
        assert!(admitted(accepted), "{accepted}");
    }
    for refused in [
        "",
        ";",
        "application/jsonx",
        "application/json, application/json",
        "application/problem+json",
        "text/json",
        "text/plain; application/json",
    ] {
        assert!(!admitted(refused), "{refused}");
    }
}

#[test]
fn content_codings() {
    let admitted = |coding| admit(&Head { content_encoding: Some(coding), ..DELIVERY }).is_ok();
    for accepted in ["", " ", "identity", "Identity\t"] {
        assert!(admitted(accepted), "{accepted:?}");
    }
    for refused in ["gzip", "br", "deflate", "zstd", "x", "identity, gzip", "gzip, identity", "identity,"] {
        assert!(!admitted(refused), "{refused:?}");
    }
}

#[test]
fn a_length_that_is_no_number_or_is_overridden_declares_nothing() {
    assert_eq!(declared_length(Some("0"), None), Some(0));
    assert_eq!(declared_length(Some("18446744073709551615"), None), Some(u64::MAX));
    for encoding in ["chunked", ""] {
        assert_eq!(declared_length(Some("5"), Some(encoding)), None, "{encoding:?}");
    }
    for value in [None, Some(""), Some("1, 1"), Some("-1"), Some("0x10"), Some("18446744073709551616")] {
        assert_eq!(declared_length(value, None), None, "{value:?}");
    }
}

#[test]
fn a_record_says_what_the_body_says() {
    let body = br#" {"id":"evt_1","type":"order.conf\u0069rmed","api_version":"2026-09-01",
        "created_at":"2026-09-01T12:00:00.000Z","livemode":false,
        "merchant":{"id":"mer_7","slug":"a"},"data":{"object":{}}} "#;
    let envelope = event::read(body).unwrap();
    let expected = Record {
        id: "evt_1",
        event_type: "order.confirmed",
        created_at: "2026-09-01T12:00:00.000Z",
        merchant_id: "mer_7",
        livemode: Some(false),
        received_at_ms: 5,
        body,
    };
    assert_eq!(Record::new(&envelope, 5), expected);
}

#[test]
fn states_and_claims() {
    let names = Status::ALL.map(Status::as_str);
    assert_eq!(names, ["received", "processing", "processed", "error"]);
    for status in Status::ALL {
        assert_eq!(Status::parse(status.as_str()), Some(status));
    }
    for unknown in ["", "Received", "done", "error "] {
        assert_eq!(Status::parse(unknown), None, "{unknown:?}");
    }
    assert_eq!(
        [Claimed::First.verdict(), Claimed::Duplicate.verdict()],
        [Verdict::First, Verdict::Duplicate]
    );
}

#[test]
fn event_ids() {
    for accepted in ["evt_1", "evt_-_-", &format!("evt_{}", "a".repeat(124))] {
        assert!(event::is_event_id(accepted), "{accepted}");
    }
    for refused in
        ["", "evt_", "EVT_1", "evt_1/", "evt_1 ", "evt_\u{e9}", &format!("evt_{}", "a".repeat(125))]
    {
        assert!(!event::is_event_id(refused), "{refused:?}");
    }
}

#[test]
fn one_byte_that_no_id_has_is_found_at_any_place_of_any_length() {
    for length in 1..=124 {
        let good = format!("evt_{}", "Az09_-".repeat(21).get(..length).unwrap());
        assert!(event::is_event_id(&good), "{good}");
        for place in 4..good.len() {
            let mut bad = good.clone();
            bad.replace_range(place..=place, "/");
            assert!(!event::is_event_id(&bad), "{bad}");
        }
    }
}
