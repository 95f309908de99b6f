//! Versions of an endpoint.

use serde_json::{Value, json};

use super::*;
use crate::endpoint::client_certificate::ClientCertificate;
use crate::endpoint::hold::HoldReason;
use crate::endpoint::url::{UrlPolicy, UrlRules};
use crate::endpoint::{EndpointRequest, RotationRequest, read_endpoint_patch};
use crate::id::EndpointId;

fn at(s: i64) -> Timestamp {
    Timestamp::from_ms(1_788_264_000_000 + s * 1000)
}

fn rules() -> UrlRules {
    UrlRules::new(UrlPolicy::Public)
}

fn endpoint() -> Endpoint {
    made_of(
        json!({"url": "https://shop.example.com/hooks", "description": "old", "metadata": {"a": "1", "b": "2"}}),
    )
}

fn made_of(body: Value) -> Endpoint {
    let id = EndpointId::from_store("we_01k3zqa7000000000000000000".into());
    EndpointRequest::read(&body, &rules(), true).unwrap().into_endpoint(id, "…q3M".into(), true, at(0))
}

fn patched(endpoint: &Endpoint, body: &Value) -> Result<Option<Endpoint>, Refusal> {
    endpoint.patched(read_endpoint_patch(body, &rules(), true)?, at(1))
}

/// The members that differ, by name.
fn changed(before: &Endpoint, after: &Endpoint) -> Vec<(String, Value)> {
    let (before, after) = (serde_json::to_value(before).unwrap(), serde_json::to_value(after).unwrap());
    let members = after.as_object().unwrap().iter().filter(|(name, value)| before[name.as_str()] != **value);
    members
        .map(|(name, value)| (name.clone(), value.clone()))
        .filter(|(name, _)| !name.ends_with("_version") && name != "updated_at")
        .collect()
}

#[test]
fn a_clock_that_is_set_back_takes_no_endpoint_back() {
    let after = endpoint().disabled(DisabledReason::Operator, at(-60)).unwrap();
    assert_eq!((after.resource_version, after.updated_at), (2, at(0)));
}

#[test]
fn each_member_changes_alone_and_makes_one_version() {
    let table = [
        (json!({"url": "https://OTHER.example.com:443/x"}), json!({"url": "https://other.example.com/x"})),
        (json!({"enabled_events": ["order.*", "order.*", "*"]}), json!({"enabled_events": ["*", "order.*"]})),
        (json!({"description": "new"}), json!({"description": "new"})),
        (json!({"description": null}), json!({"description": null})),
        (json!({"max_in_flight": 1}), json!({"max_in_flight": 1})),
        (json!({"max_in_flight": 256}), json!({"max_in_flight": 256})),
        (json!({"metadata": {"b": "3", "c": "4"}}), json!({"metadata": {"a": "1", "b": "3", "c": "4"}})),
        (json!({"metadata": {"a": null, "z": null}}), json!({"metadata": {"b": "2"}})),
        (json!({"metadata": {"a": null, "b": null}}), json!({"metadata": {}})),
        (json!({"headers": {"X-Key": "1", "a": "2"}}), json!({"header_names": ["a", "x-key"]})),
        (json!({"timeout_ms": 1000}), json!({"timeout_ms": 1000})),
        (json!({"retry_schedule": "short"}), json!({"retry_schedule": "short"})),
        (
            json!({"status": "disabled"}),
            json!({"disabled_at": at(1), "disabled_reason": "merchant", "status": "disabled"}),
        ),
    ];
    for (body, expected) in table {
        let after = patched(&endpoint(), &body).unwrap().unwrap();
        let expected: Vec<_> = expected.as_object().unwrap().clone().into_iter().collect();
        assert_eq!(changed(&endpoint(), &after), expected, "{body}");
        assert_eq!((after.resource_version, after.updated_at), (2, at(1)), "{body}");
    }
}

#[test]
fn what_says_nothing_new_makes_no_version() {
    for body in [
        json!({}),
        json!({"status": "enabled"}),
        json!({"headers": {}}),
        json!({"headers": null, "timeout_ms": null, "retry_schedule": "standard"}),
        json!({"api_version": "2026-09-01"}),
        json!({"metadata": {"a": "1"}, "description": "old", "url": "https://shop.example.com/hooks"}),
    ] {
        assert_eq!(patched(&endpoint(), &body).unwrap(), None, "{body}");
    }
    let disabled = endpoint().disabled(DisabledReason::Gone, at(1)).unwrap();
    assert_eq!(patched(&disabled, &json!({"status": "disabled"})).unwrap(), None, "the reason stands");
    assert_eq!((disabled.disabled(DisabledReason::Operator, at(2)), endpoint().enabled(at(2))), (None, None));
}

#[test]
fn a_client_certificate_is_shown_as_it_was_inspected() {
    let with = |endpoint: &Endpoint, written: Value, digit: char| {
        let body = json!({ "client_certificate": written });
        let mut patch = read_endpoint_patch(&body, &rules(), true).unwrap();
        let shown = ClientCertificate { fingerprint_sha256: digit.to_string().repeat(64), expires_at: at(9) };
        patch.client_certificate = patch.client_certificate.map(|new| new.map(|new| new.inspected(shown)));
        endpoint.patched(patch, at(1)).unwrap()
    };
    let pair = json!({ "certificate": "c", "private_key": "k" });
    let first = with(&endpoint(), pair.clone(), 'a').unwrap();
    assert_eq!(first.client_certificate.as_ref().unwrap().fingerprint_sha256, "a".repeat(64));
    // The chain behind the same certificate may be another one: it is not there to compare with.
    let again = with(&first, pair.clone(), 'a').unwrap();
    assert_eq!((&again.client_certificate, again.resource_version), (&first.client_certificate, 3));
    let second = with(&again, pair, 'b').unwrap();
    assert_eq!(second.client_certificate.as_ref().unwrap().fingerprint_sha256, "b".repeat(64));
    let none = with(&second, json!(null), 'c').unwrap();
    assert_eq!(none.client_certificate, None);
    assert_eq!(with(&none, json!(null), 'c'), None);
}

#[test]
fn headers_are_replaced_as_a_whole() {
    let with = |endpoint: &Endpoint, headers: Value| {
        let patch = read_endpoint_patch(&json!({ "headers": headers }), &rules(), true).unwrap();
        let values: Vec<(String, String)> = patch
            .headers
            .iter()
            .flat_map(|headers| headers.iter())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        (endpoint.patched(patch, at(1)).unwrap(), values)
    };
    let (first, _) = with(&endpoint(), json!({"a": "1", "b": "2"}));
    let first = first.unwrap();
    let (second, values) = with(&first, json!({"B": "3"}));
    let second = second.unwrap();
    assert_eq!(
        (second.header_names.as_slice(), values.as_slice()),
        (&["b".into()][..], &[("b".into(), "3".into())][..])
    );
    // The value may be another one: it is not there to compare with.
    let (again, _) = with(&second, json!({"b": "3"}));
    assert_eq!(again.unwrap().resource_version, second.resource_version + 1);
    for none in [json!(null), json!({})] {
        let (removed, values) = with(&second, none);
        assert_eq!((removed.unwrap().header_names, values), (vec![], vec![]));
    }
    let absent = patched(&second, &json!({"description": "newer"})).unwrap().unwrap();
    assert_eq!(absent.header_names, ["b"]);
    let cleared = patched(
        &patched(&endpoint(), &json!({"timeout_ms": 1000})).unwrap().unwrap(),
        &json!({"timeout_ms": null}),
    );
    assert_eq!(cleared.unwrap().unwrap().timeout_ms, None);
}

#[test]
fn wrong_members_are_refused_by_their_place() {
    let metadata: serde_json::Map<String, Value> = (0..49).map(|n| (format!("k{n}"), json!(""))).collect();
    use ErrorCode::{EndpointUrlForbidden, FieldNotWritable, UnknownField, ValidationFailed};
    let table = [
        (json!({"url": null}), ValidationFailed, "/url required"),
        (json!({"enabled_events": null}), ValidationFailed, "/enabled_events required"),
        (json!({"enabled_events": []}), ValidationFailed, "/enabled_events too_short"),
        (json!({"enabled_events": ["x"]}), ValidationFailed, "/enabled_events/0 invalid_value"),
        (json!({"status": "gone"}), ValidationFailed, "/status invalid_value"),
        (json!({"api_version": "2020-01-01"}), ValidationFailed, "/api_version invalid_value"),
        (json!({"metadata": null}), ValidationFailed, "/metadata required"),
        (json!({"metadata": {"a b": "1"}}), ValidationFailed, "/metadata/a b invalid_value"),
        (json!({"metadata": {"a": 1}}), ValidationFailed, "/metadata/a wrong_type"),
        (json!({"metadata": metadata}), ValidationFailed, "/metadata too_long"),
        (json!({"secret": "whsec_x"}), FieldNotWritable, "/secret field_not_writable"),
        (json!({"signature_profile": "service"}), FieldNotWritable, "/signature_profile field_not_writable"),
        (json!({"health": {}}), FieldNotWritable, "/health field_not_writable"),
        (json!({"urls": []}), UnknownField, "/urls unknown_field"),
        (json!({"url": "http://a.example.com/"}), EndpointUrlForbidden, "/url url_scheme"),
        (json!({"url": "https://10.0.0.1/"}), EndpointUrlForbidden, "/url url_host"),
    ];
    for (body, code, error) in table {
        let refusal = patched(&endpoint(), &body).unwrap_err();
        assert_eq!((refusal.code, refusal.told()[0].as_str()), (code, error), "{body}");
    }
}

#[test]
fn enabling_forgets_why_and_how_often() {
    let mut failing = endpoint().disabled(DisabledReason::Failing, at(1)).unwrap();
    failing.health.state = HealthState::Failing;
    failing.health.consecutive_failures = 40;
    failing.health.last_failure_at = Some(at(0));
    for enabled in [failing.enabled(at(2)), patched(&failing, &json!({"status": "enabled"})).unwrap()] {
        let enabled = enabled.unwrap();
        assert_eq!(
            (enabled.status, enabled.disabled_reason, enabled.disabled_at),
            (EndpointStatus::Enabled, None, None)
        );
        assert_eq!((enabled.health.state, enabled.health.consecutive_failures), (HealthState::Unknown, 0));
        assert_eq!((enabled.health.last_failure_at, enabled.resource_version), (Some(at(0)), 3));
    }
}

#[test]
fn a_rotation_opens_an_overlap_that_ends_by_itself_by_force_or_by_retiring() {
    let rotate =
        |endpoint: &Endpoint, overlap_s, force, s| endpoint.rotated("…new".into(), overlap_s, force, at(s));
    let first = rotate(&endpoint(), 60, false, 10).unwrap();
    assert_eq!((first.previous_secret_expires_at, first.secret_rotated_at), (Some(at(70)), Some(at(10))));
    assert_eq!((first.secret_hint.as_str(), first.resource_version), ("…new", 2));
    for overlap_s in [0, 60] {
        assert_eq!(rotate(&first, overlap_s, false, 69).unwrap_err().code, ErrorCode::RotationInProgress);
    }
    assert_eq!(rotate(&first, 60, true, 69).unwrap().previous_secret_expires_at, Some(at(129)));
    assert_eq!(rotate(&first, 60, false, 70).unwrap().previous_secret_expires_at, Some(at(130)));
    assert_eq!(rotate(&endpoint(), 0, false, 10).unwrap().previous_secret_expires_at, None);
    assert_eq!(rotate(&first, 0, true, 69).unwrap().previous_secret_expires_at, None);
    let retired = first.retired(at(69)).unwrap();
    assert_eq!((retired.previous_secret_expires_at, retired.resource_version), (None, 3));
    assert_eq!((first.retired(at(70)), endpoint().retired(at(70))), (None, None));
    assert_eq!(first.clone().seen_at(at(69)).previous_secret_expires_at, Some(at(70)));
    assert_eq!(first.seen_at(at(70)).previous_secret_expires_at, None);
}

#[test]
fn a_rotation_is_asked_for_within_bounds() {
    let read = |body: Value| RotationRequest::read(&body);
    assert_eq!(read(json!({})), Ok(RotationRequest { overlap_s: 86_400, force: false }));
    let given = json!({"overlap_seconds": 604_800, "force": true});
    assert_eq!(read(given), Ok(RotationRequest { overlap_s: 604_800, force: true }));
    for (body, pointer) in [
        (json!({"overlap_seconds": -1}), "/overlap_seconds"),
        (json!({"overlap_seconds": 604_801}), "/overlap_seconds"),
        (json!({"overlap_seconds": "60"}), "/overlap_seconds"),
        (json!({"force": 1}), "/force"),
        (json!({"secret": "x"}), "/secret"),
    ] {
        assert_eq!(read(body.clone()).unwrap_err().members[0].pointer, pointer, "{body}");
    }
}

#[test]
fn as_many_requests_in_flight_as_the_merchant_may_have() {
    let mut of_merchant = endpoint();
    of_merchant.max_in_flight.of_merchant = Some(40);
    let after = patched(&of_merchant, &json!({"max_in_flight": 40})).unwrap().unwrap();
    assert_eq!((after.max_in_flight.own, after.max_in_flight.get()), (Some(40), 40));
    let refused = patched(&of_merchant, &json!({"max_in_flight": 41})).unwrap_err();
    assert_eq!(
        (refused.code, refused.members[0].pointer.as_str()),
        (ErrorCode::ValidationFailed, "/max_in_flight")
    );
    assert_eq!(
        refused.members[0].detail,
        "This merchant's limit max_in_flight is 40; the platform's operator can raise it."
    );
    // Null restores the default; when the default already holds, nothing changes.
    let back = patched(&after, &json!({"max_in_flight": null})).unwrap().unwrap();
    assert_eq!((back.max_in_flight.own, back.max_in_flight.get()), (None, 40));
    assert_eq!(patched(&back, &json!({"max_in_flight": null})).unwrap(), None);
}

#[test]
fn a_hold_shows_until_it_is_over() {
    let mut held = endpoint();
    (held.held_until, held.held_reason) = (Some(at(5)), Some(HoldReason::RateLimited));
    assert_eq!(held.clone().seen_at(at(4)), held);
    let free = held.seen_at(at(5));
    assert_eq!((free.held_until, free.held_reason), (None, None));
}

#[test]
fn headers_do_not_follow_the_url_to_another_host() {
    let before = made_of(json!({ "url": "https://shop.example.com/hooks", "headers": { "x-key": "1" } }));
    for (url, follows) in [
        ("https://shop.example.com/other?path=1", true),
        ("https://SHOP.example.com:443/hooks", true),
        ("https://shop.example.com:8443/hooks", false),
        ("https://example.com/hooks", false),
        ("https://shop.example.com.example.net/hooks", false),
    ] {
        let patched = patched(&before, &json!({ "url": url }));
        assert_eq!(patched.is_ok(), follows, "{url}");
        if let Err(refused) = patched {
            let [error] = &refused.members[..] else { panic!("{refused:?}") };
            assert_eq!((refused.code, error.pointer.as_str()), (ErrorCode::ValidationFailed, "/headers"));
        }
        for headers in [json!({ "x-key": "2" }), json!({}), json!(null)] {
            let patch = json!({ "url": url, "headers": headers });
            assert!(self::patched(&before, &patch).is_ok(), "{patch}");
        }
    }
    let without = made_of(json!({ "url": "https://shop.example.com/hooks" }));
    assert!(patched(&without, &json!({ "url": "https://example.com/hooks" })).is_ok());
}
