//! The code is HMAC-SHA256, whatever the lengths of key and message, and however its parts come about.

use hmac::{Hmac, KeyInit as _, Mac as _};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};
use verify_core::Profile;
use verify_core::secret::{Prepared, Secret};

/// The same by the `hmac` crate.
fn reference(key: &[u8], parts: &[&[u8]]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    parts.iter().for_each(|part| mac.update(part));
    hex::encode(mac.finalize().into_bytes())
}

fn text(signature: [u8; 64]) -> String {
    String::from_utf8(signature.to_vec()).unwrap()
}

#[test]
fn every_length_around_the_blocks() {
    let message: Vec<u8> = (0..300).map(|byte| byte as u8).collect();
    for key_len in [7, 49, 63, 64, 65, 128, 512] {
        let key = format!("whsec_{}", "k".repeat(key_len - 6));
        let secret = Secret::parse(&key).unwrap();
        for length in 0..message.len() {
            let body = &message[..length];
            let expected = reference(key.as_bytes(), &[b"1788264000", b".", body]);
            assert_eq!(text(secret.sign(b"1788264000", body)), expected, "key {key_len}, body {length}");
        }
    }
}

proptest! {
    #[test]
    fn states_that_were_kept_and_a_digest_that_was_computed_elsewhere_sign_the_same(
        key in "whsec_[!-~]{1,506}",
        timestamp in "[0-9]{10}",
        body in prop::collection::vec(any::<u8>(), 0..1000),
    ) {
        let secret = Secret::parse(&key).unwrap();
        let expected = secret.sign(timestamp.as_bytes(), &body);
        prop_assert_eq!(text(expected), reference(key.as_bytes(), &[timestamp.as_bytes(), b".", &body]));

        let mut prepared = Prepared::new();
        prepared.prepare(Profile::Service, key.as_bytes()).unwrap();
        let kept = Secret::from_states(&prepared.states);
        prop_assert_eq!(kept.sign(timestamp.as_bytes(), &body), expected);

        let pad = prepared.inner_pad;
        let elsewhere = Sha256::new().chain_update(pad).chain_update(&timestamp).chain_update(b".").chain_update(&body);
        prop_assert_eq!(kept.sign_digest(&elsewhere.finalize().into()), expected);
    }
}

#[test]
fn an_unusable_secret_is_not_prepared() {
    for text in ["", "whsec_", "whsec_a\n", "WHSEC_a"] {
        let mut prepared = Prepared::new();
        assert!(prepared.prepare(Profile::Service, text.as_bytes()).is_err(), "{text:?}");
        assert_eq!((prepared.states, prepared.inner_pad), ([0; 64], [0; 64]), "{text:?}");
        assert!(Secret::parse_bytes(text.as_bytes()).is_err(), "{text:?}");
    }
    assert!(Secret::parse_bytes(b"whsec_\xff").is_err());
}
