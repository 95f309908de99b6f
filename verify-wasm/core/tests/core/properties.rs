//! What must hold for every input (contract 10.8, last paragraph).

use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use serde_json::{Value, json};
use verify_core::{
    Envelope, Headers, Secret, Tolerance, VerificationCode, Verifier, base62, event, header, id, json,
    secret, sign,
};

use crate::delivery::{BODY, Delivery, NOW, S1, S2};

/// Any JSON value of modest size.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::hash_map(any::<String>(), inner, 0..6)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

/// Any valid event, as text in one of two layouts.
pub(crate) fn any_event() -> impl Strategy<Value = String> {
    let counter = prop_oneof![Just(Value::Null), (0_u64..1 << 53).prop_map(Value::from)];
    let livemode = select(vec![Value::Null, Value::Bool(true), Value::Bool(false)]);
    (
        "evt_[0-9A-Za-z_-]{1,124}",
        "[a-z][a-z0-9_]{0,20}(\\.[a-z0-9_]{1,20}){1,4}",
        (1_i32..=9999, 1_u32..=12, 1_u32..=28),
        (0_u32..24, 0_u32..60, 0_u32..60, 0_u32..1000),
        ("mer_[0-9A-Za-z_-]{1,124}", "[^\\pC]{1,128}"),
        (counter.clone(), counter, livemode),
        (any_json(), any_json(), any::<bool>()),
    )
        .prop_map(
            |(
                id,
                name,
                (y, m, d),
                (hh, mm, ss, ms),
                (merchant, slug),
                (sequence, version, livemode),
                rest,
            )| {
                let (object, extra, pretty) = rest;
                let event = json!({
                    "id": id, "type": name, "api_version": format!("{y:04}-{m:02}-{d:02}"),
                    "created_at": format!("{y:04}-{m:02}-{d:02}T{hh:02}:{mm:02}:{ss:02}.{ms:03}Z"),
                    "sequence": sequence, "resource_version": version, "livemode": livemode,
                    "merchant": {"id": merchant, "slug": slug, "extra": extra},
                    "data": {"object": {"nested": object}}, "extra": extra,
                });
                if pretty { serde_json::to_string_pretty(&event).unwrap() } else { event.to_string() }
            },
        )
}

static S1_VERIFIER: LazyLock<Verifier> = LazyLock::new(|| Verifier::new(&[S1], Tolerance::DEFAULT).unwrap());

fn given<'h>(
    timestamp: &'h (impl AsRef<[u8]> + ?Sized),
    signature: &'h (impl AsRef<[u8]> + ?Sized),
    event_id: Option<&'h (impl AsRef<[u8]> + ?Sized)>,
) -> Headers<'h> {
    let (timestamp, signature) = (Some(timestamp.as_ref()), Some(signature.as_ref()));
    Headers { timestamp, signature, event_id: event_id.map(AsRef::as_ref) }
}

fn signed(body: &str, secrets: &[&str]) -> String {
    let secrets: Vec<_> = secrets.iter().map(|text| Secret::parse(text).unwrap()).collect();
    sign::signature_header(&secrets, &NOW.to_string(), body.as_bytes())
}

proptest! {
    #[test]
    fn what_was_signed_verifies(
        body in any_event(),
        seeds in vec(any::<[u8; 32]>(), 1..=8),
        trusted in any::<Index>(),
        tolerance in 1_i64..=3600,
        offset in -3600_i64..=3600,
    ) {
        let secrets: Vec<_> = seeds.iter().map(|seed| secret::generate(*seed)).collect();
        let signature = signed(&body, &secrets.iter().map(String::as_str).collect::<Vec<_>>());
        let parsed: Value = serde_json::from_str(&body).unwrap();
        let timestamp = NOW.to_string();
        let headers = given(&timestamp, &signature, parsed["id"].as_str());
        // A receiver may trust one of them or all, in any order.
        let one = Verifier::new(&[trusted.get(&secrets)], Tolerance::new(tolerance).unwrap()).unwrap();
        let all = Verifier::new(&secrets, Tolerance::new(tolerance).unwrap()).unwrap();
        let now = NOW + offset % (tolerance + 1);
        let envelope: Envelope<'_> = one.verify(Some(body.as_bytes()), &headers, now).unwrap();
        prop_assert_eq!(all.verify(Some(body.as_bytes()), &headers, now).unwrap(), envelope.clone());
        prop_assert_eq!(Some(envelope.id.as_ref()), parsed["id"].as_str());
        prop_assert_eq!(Some(envelope.event_type.as_ref()), parsed["type"].as_str());
        prop_assert_eq!(Some(envelope.created_at.as_ref()), parsed["created_at"].as_str());
        prop_assert_eq!(envelope.sequence, parsed["sequence"].as_u64());
        prop_assert_eq!(envelope.resource_version, parsed["resource_version"].as_u64());
        prop_assert_eq!(envelope.livemode, parsed["livemode"].as_bool());
        prop_assert_eq!(Some(envelope.merchant_id.as_ref()), parsed["merchant"]["id"].as_str());
        prop_assert_eq!(Some(envelope.merchant_slug.as_ref()), parsed["merchant"]["slug"].as_str());
        prop_assert_eq!(envelope.text, body.as_str());
    }

    #[test]
    fn no_flipped_bit_is_ever_accepted(body in any_event(), at in any::<Index>(), bit in 0_u8..8) {
        let signature = signed(&body, &[S1]);
        let timestamp = NOW.to_string();
        let parts = [body.as_bytes(), timestamp.as_bytes(), signature.as_bytes()];
        let mut flipped = parts.map(<[u8]>::to_vec);
        let at = at.index(parts.iter().map(|part| part.len()).sum());
        *flipped.iter_mut().flatten().nth(at).unwrap() ^= 1_u8 << bit;
        let event_id = serde_json::from_str::<Value>(&body).unwrap()["id"].as_str().unwrap().to_owned();
        let headers = given(&flipped[1], &flipped[2], Some(&event_id));
        // The tolerance must not be what refuses a flipped timestamp.
        let now = std::str::from_utf8(&flipped[1]).ok().and_then(|text| text.parse().ok()).unwrap_or(NOW);
        prop_assert!(S1_VERIFIER.verify(Some(&flipped[0]), &headers, now).is_err());
    }

    #[test]
    fn no_bit_of_the_only_candidate_that_holds_can_change(
        body in any_event(),
        at in any::<Index>(),
        bit in 0_u8..8,
        before in vec("[a-z0-9=]{0,70}", 0..4),
        behind in vec("[a-z0-9=]{0,70}", 0..4),
        trusted in vec(any::<[u8; 32]>(), 0..7),
    ) {
        let mut good = signed(&body, &[S1]).into_bytes();
        let at = at.index(good.len());
        let mut secrets: Vec<_> = trusted.iter().map(|seed| secret::generate(*seed)).collect();
        secrets.push(S1.to_owned());
        let verifier = Verifier::new(&secrets, Tolerance::DEFAULT).unwrap();
        let parsed: Value = serde_json::from_str(&body).unwrap();
        let timestamp = NOW.to_string();
        let verdict = |good: &[u8]| {
            let before = before.iter().map(String::as_bytes);
            let items: Vec<_> = before.chain([good]).chain(behind.iter().map(String::as_bytes)).collect();
            let signature = items.join(&b","[..]);
            let headers = given(&timestamp, &signature, parsed["id"].as_str());
            verifier.verify(Some(body.as_bytes()), &headers, NOW).map(|_| ())
        };
        prop_assert_eq!(verdict(&good), Ok(()));
        good[at] ^= 1 << bit;
        prop_assert_eq!(verdict(&good), Err(VerificationCode::InvalidSignature));
    }

    #[test]
    fn no_bit_of_the_event_id_header_can_change(body in any_event(), at in any::<Index>(), bit in 0_u8..8) {
        let signature = signed(&body, &[S1]);
        let timestamp = NOW.to_string();
        let parsed: Value = serde_json::from_str(&body).unwrap();
        let mut event_id = parsed["id"].as_str().unwrap().as_bytes().to_vec();
        let at = at.index(event_id.len());
        event_id[at] ^= 1 << bit;
        let headers = given(&timestamp, &signature, Some(&event_id));
        let verdict = S1_VERIFIER.verify(Some(body.as_bytes()), &headers, NOW).map(|_| ());
        prop_assert_eq!(verdict, Err(VerificationCode::EventIdMismatch));
    }

    #[test]
    fn one_second_beyond_the_tolerance_is_stale(
        body in any_event(),
        timestamp in 0_i64..=9_999_999_999,
        tolerance in 1_i64..=3600,
    ) {
        let timestamp_text = format!("{timestamp:010}");
        let secret = Secret::parse(S1).unwrap();
        let signature = sign::signature_header([&secret], &timestamp_text, body.as_bytes());
        let parsed: Value = serde_json::from_str(&body).unwrap();
        let headers = given(&timestamp_text, &signature, parsed["id"].as_str());
        let verifier = Verifier::new(&[S1], Tolerance::new(tolerance).unwrap()).unwrap();
        let at = |now| verifier.verify(Some(body.as_bytes()), &headers, now).map(|_| ());
        for direction in [-1, 1] {
            prop_assert_eq!(at(timestamp + direction * tolerance), Ok(()));
            let beyond = at(timestamp + direction * (tolerance + 1));
            prop_assert_eq!(beyond, Err(VerificationCode::StaleTimestamp));
        }
    }

    #[test]
    fn any_receiver_gives_any_delivery_the_references_verdict(
        body in proptest::option::of(prop_oneof![any_event().prop_map(String::into_bytes), vec(any::<u8>(), 0..80)]),
        timestamp in proptest::option::of(prop_oneof![Just(NOW.to_string()), "[0-9 +]{8,12}"]),
        candidates in vec(prop_oneof!["v1=[0-9a-f]{60,66}", "[ -~]{0,20}"], 0..5),
        signs in any::<bool>(),
        event_id in proptest::option::of("evt_[0-9a-z]{1,3}"),
        secrets in vec(prop_oneof![4 => Just(S1.to_owned()), 4 => Just(S2.to_owned()), 1 => "whsec_[ -~]{0,3}"], 0..10),
        tolerance in 0_i64..=3601,
        now in prop_oneof![NOW - 3601..=NOW + 3601, any::<i64>()],
    ) {
        let parsed: Option<Value> = body.as_deref().and_then(|body| serde_json::from_slice(body).ok());
        let event_id = event_id.or_else(|| Some(parsed?.get("id")?.as_str()?.to_owned()));
        let mut candidates = candidates;
        if let (true, Some(body), Some(timestamp)) = (signs, &body, &timestamp) {
            let secret = Secret::parse(S1).unwrap();
            candidates.push(sign::signature_header([&secret], timestamp, body));
        }
        let signature = candidates.join(",");
        let reference = verify_reference::Delivery {
            body: body.as_deref(),
            timestamp: timestamp.as_deref().map(str::as_bytes),
            signature: Some(signature.as_bytes()),
            event_id: event_id.as_deref().map(str::as_bytes),
            secrets: &secrets,
            tolerance,
            now,
        };
        let headers =
            Headers { timestamp: reference.timestamp, signature: reference.signature, event_id: reference.event_id };
        let verifier = Tolerance::new(tolerance).and_then(|tolerance| Verifier::new(&secrets, tolerance));
        let verdict = verifier.map_or(verify_reference::delivery::CONFIGURATION, |verifier| {
            verifier.verify(body.as_deref(), &headers, now).map_or_else(VerificationCode::as_str, |_| "ok")
        });
        prop_assert_eq!(verdict, reference.verdict());
    }

    #[test]
    fn the_order_of_candidates_and_secrets_is_irrelevant(
        mut candidates in vec(prop_oneof!["v1=[0-9a-f]{64}", "v[02]=[0-9a-f]{64}", "[ -+./-~]{0,70}"], 0..20),
        mut secrets in subsequence(vec![S1, S2, "whsec_a", "whsec_b", "whsec_c"], 1..=5),
        valid in any::<bool>(),
        shuffle in vec((any::<Index>(), any::<Index>()), 20),
    ) {
        if valid {
            candidates.push(signed(BODY, &[S1]));
        }
        let mut verdicts = Vec::new();
        for (left, right) in shuffle {
            let mut delivery = Delivery::of(BODY);
            delivery.signature = Some(format!("x,{}", candidates.join(",")).into_bytes());
            delivery.secrets = secrets.iter().map(ToString::to_string).collect();
            verdicts.push(delivery.verdict());
            let length = candidates.len().max(1);
            if !candidates.is_empty() {
                candidates.swap(left.index(length), right.index(length));
            }
            let length = secrets.len();
            secrets.swap(left.index(length), right.index(length));
        }
        let expected = if valid && secrets.contains(&S1) { "ok" } else { "invalid_signature" };
        prop_assert!(verdicts.iter().all(|verdict| *verdict == expected), "{verdicts:?}");
    }

    #[test]
    fn no_bytes_make_it_panic(
        body in vec(any::<u8>(), 0..200),
        text in "\\PC*",
        timestamp in proptest::option::of(vec(any::<u8>(), 0..14)),
        signature in proptest::option::of(vec(any::<u8>(), 0..100)),
        event_id in proptest::option::of(vec(any::<u8>(), 0..20)),
        lines in vec(vec(any::<u8>(), 0..10), 0..5),
        now: i64,
        secrets in vec("\\PC*", 0..9),
        tolerance: i64,
        seed: [u8; 32],
    ) {
        let headers = Headers {
            timestamp: timestamp.as_deref(),
            signature: signature.as_deref(),
            event_id: event_id.as_deref(),
        };
        let tolerance = Tolerance::new(tolerance).unwrap_or_default();
        let verifier = Verifier::new(&secrets, tolerance).unwrap_or_else(|_| S1_VERIFIER.clone());
        // Arbitrary bytes as they come, and behind a good signature.
        let _ = verifier.verify(Some(&body), &headers, now);
        let mut delivery = Delivery::of(&body);
        delivery.event_id = event_id.clone();
        prop_assert_ne!(delivery.verdict(), "invalid_signature");
        for text in [body.as_slice(), text.as_bytes()] {
            let _ = event::read(text);
            let _ = json::check(text, seed[0], json::Duplicates::Refused);
        }
        let _ = header::join_lines(lines.iter().map(Vec::as_slice));
        let _ = (id::is_issued(&text, &text), id::timestamp_ms(&text), secret::hint(&text), base62::encode(seed));
    }
}
