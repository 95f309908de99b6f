//! The profile of Standard Webhooks (contract 15.12), beside the public library for it and the `base64` crate.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::collection::vec;
use proptest::prelude::*;
use standardwebhooks::Webhook;
use verify_core::standard_webhooks::{Key, header_value};
use verify_core::{Headers, Profile, Secret, Tolerance, VerificationCode, Verifier, secret};

use crate::delivery::{BODY, NOW};
use crate::properties::any_event;

const PROFILE: Profile = Profile::StandardWebhooks;

fn written(key: &[u8]) -> String {
    format!("whsec_{}", STANDARD.encode(key))
}

/// The header by the public library, newest first.
fn signed(secrets: &[&str], id: &str, body: &str) -> String {
    let sign = |secret: &&str| Webhook::new(secret).unwrap().sign(id, NOW, body.as_bytes()).unwrap();
    secrets.iter().map(sign).collect::<Vec<_>>().join(" ")
}

fn verdict(secrets: &[&str], id: &str, signature: &[u8], body: &[u8]) -> &'static str {
    let headers =
        Headers { timestamp: Some(b"1788264000"), signature: Some(signature), event_id: Some(id.as_bytes()) };
    let verifier = Verifier::for_profile(PROFILE, secrets, Tolerance::DEFAULT).unwrap();
    verifier.verify(Some(body), &headers, NOW).map_or_else(VerificationCode::as_str, |_| "ok")
}

#[test]
fn a_new_secret_is_base64_of_its_bytes_and_the_libraries_read_it() {
    for random in [[0; 32], [255; 32], std::array::from_fn(|at| at as u8), [0xfb; 32]] {
        let text = secret::generate_for(PROFILE, random);
        assert_eq!(text, written(&random));
        assert_eq!(text.len(), 50);
        assert_eq!(Key::parse(text.as_bytes()).unwrap().as_bytes(), random);
        assert_eq!(
            verdict(&[&text], "evt_1", signed(&[&text], "evt_1", BODY).as_bytes(), BODY.as_bytes()),
            "ok"
        );
        // The same secret is one for the service's own headers.
        assert!(Secret::parse(&text).is_ok());
    }
    assert_eq!(secret::generate_for(Profile::Service, [7; 32]), secret::generate([7; 32]));
}

#[test]
fn nothing_of_a_key_is_shown() {
    let text = written(b"a key of which nothing is shown");
    let key = Key::parse(text.as_bytes()).unwrap();
    assert_eq!(
        format!("{key:?} {:?}", Secret::parse_for(PROFILE, &text).unwrap()),
        "Key(redacted) Secret(redacted)"
    );
}

#[test]
fn profiles_have_their_names_and_headers() {
    for (profile, name, id) in
        [(Profile::Service, "service", "service-event-id"), (PROFILE, "standard-webhooks", "webhook-id")]
    {
        assert_eq!((profile.as_str(), Profile::from_str(name)), (name, Some(profile)));
        assert_eq!(profile.header_names().event_id, id);
        assert_eq!(
            Verifier::for_profile(profile, &["whsec_AA=="], Tolerance::DEFAULT).unwrap().profile(),
            profile
        );
    }
    for unknown in ["", "Service", "standard_webhooks", "standard-webhooks "] {
        assert_eq!(Profile::from_str(unknown), None);
    }
    let names = PROFILE.header_names();
    assert_eq!(
        [names.event_id, names.timestamp, names.signature],
        [
            standardwebhooks::HEADER_WEBHOOK_ID,
            standardwebhooks::HEADER_WEBHOOK_TIMESTAMP,
            standardwebhooks::HEADER_WEBHOOK_SIGNATURE
        ]
    );
}

#[test]
fn a_secret_of_the_other_profile_never_verifies() {
    let text = written(&[7; 32]);
    let by_service = Secret::parse(&text).unwrap();
    let crossed = by_service.sign_standard(b"evt_1", b"1788264000", BODY.as_bytes());
    let header = [b"v1,", crossed.as_slice()].concat();
    assert_eq!(verdict(&[&text], "evt_1", &header, BODY.as_bytes()), "invalid_signature");
}

proptest! {
    #[test]
    fn what_the_public_library_signs_verifies(body in any_event(), keys in vec(vec(any::<u8>(), 1..=80), 1..=8)) {
        let id = serde_json::from_str::<serde_json::Value>(&body).unwrap()["id"].as_str().unwrap().to_owned();
        let secrets: Vec<_> = keys.iter().map(|key| written(key)).collect();
        let secrets: Vec<_> = secrets.iter().map(String::as_str).collect();
        let header = signed(&secrets, &id, &body);
        let digests = keys.iter().map(|key| {
            verify_core::mac::KeyStates::new(key).mac([id.as_bytes(), b".1788264000.", body.as_bytes()])
        });
        prop_assert_eq!(header_value(digests), header.clone());
        for trusted in &secrets {
            prop_assert_eq!(verdict(&[trusted], &id, header.as_bytes(), body.as_bytes()), "ok");
        }
        prop_assert_eq!(verdict(&secrets, &id, header.as_bytes(), body.as_bytes()), "ok");
    }

    #[test]
    fn no_altered_bit_verifies(place in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let text = written(&[7; 32]);
        let header = signed(&[&text], "evt_1", BODY);
        let mut body = BODY.as_bytes().to_vec();
        body[place.index(BODY.len())] ^= 1 << bit;
        prop_assert_eq!(verdict(&[&text], "evt_1", header.as_bytes(), &body), "invalid_signature");
        let mut altered = header.clone().into_bytes();
        altered[place.index(header.len())] ^= 1 << bit;
        prop_assert_ne!(verdict(&[&text], "evt_1", &altered, BODY.as_bytes()), "ok");
        let id = format!("evt_{}", place.index(90));
        if id != "evt_1" {
            prop_assert_eq!(verdict(&[&text], &id, header.as_bytes(), BODY.as_bytes()), "invalid_signature");
        }
    }

    #[test]
    fn keys_are_read_as_the_base64_crate_reads_them(written in "[A-Za-z0-9+/=_-]{0,12}") {
        let expected = STANDARD.decode(&written).ok().filter(|key| !key.is_empty());
        let key = Key::parse(format!("whsec_{written}").as_bytes()).ok();
        prop_assert_eq!(key.map(|key| key.as_bytes().to_vec()), expected);
    }

    #[test]
    fn any_header_gets_a_verdict(signature in vec(any::<u8>(), 0..200), id in ".{0,20}") {
        let word = verdict(&["whsec_AA=="], &id, &signature, BODY.as_bytes());
        prop_assert!(["missing_signature", "invalid_signature"].contains(&word));
    }
}
