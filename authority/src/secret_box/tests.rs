//! Sealing: what opens, what does not, and values made by another implementation.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use proptest::prelude::*;

use super::*;
use crate::dice::SystemDice;

const ENDPOINT: SecretContext<'_> = SecretContext::SigningSecret { endpoint_id: "we_01", secret_version: 2 };
const SECRET: &str = "whsec_golden";

/// Dice that always show the same face.
struct Face(u8);

impl Dice for Face {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0);
    }
}

fn kek(first: u8) -> Kek {
    let bytes: Vec<u8> = (0..32).map(|n| first.wrapping_add(n)).collect();
    Kek::parse(&BASE64_STANDARD.encode(bytes)).expect("32 bytes")
}

/// A key other than `kek(0)` with another id, and one with the same id.
fn other_kek(same_id: bool) -> Kek {
    (1..=u8::MAX)
        .flat_map(|low| (0..=u8::MAX).map(move |high| (low, high)))
        .map(|(low, high)| {
            let mut bytes = [low; 32];
            bytes[0] = high;
            Kek::parse(&BASE64_STANDARD.encode(bytes)).expect("32 bytes")
        })
        .find(|other| (other.id() == kek(0).id()) == same_id)
        .expect("65,000 keys share 256 ids")
}

fn sealed() -> (SecretBox, Vec<u8>) {
    let secrets = SecretBox::new(&kek(0), None);
    let blob = secrets.seal(&SystemDice, ENDPOINT, SECRET).expect("seals");
    (secrets, blob)
}

#[test]
fn the_form_is_the_one_that_is_written_down() {
    // Made with Node's crypto from the description in the module's story, not with this code.
    let golden = "01420707070707070707070707079b86692b7c3fd304b496af0efbd2df424c7e74a6e477d29b85ba9f94";
    let secrets = SecretBox::new(&kek(0), None);
    let blob = secrets.seal(&Face(7), ENDPOINT, SECRET).expect("seals");
    assert_eq!(hex::encode(&blob), golden);
    assert_eq!(*secrets.open(ENDPOINT, &blob).expect("opens"), SECRET);
}

#[test]
fn two_seals_of_one_secret_differ() {
    let secrets = SecretBox::new(&kek(0), None);
    let seal = || secrets.seal(&SystemDice, ENDPOINT, SECRET).expect("seals");
    assert_ne!(seal(), seal());
}

#[test]
fn opens_for_its_own_endpoint_and_version_only() {
    let (secrets, blob) = sealed();
    for (endpoint_id, secret_version) in
        [("we_02", 2), ("we_01", 1), ("we_01", 3), ("we_0", 2), ("we_011", 2), ("", 2)]
    {
        let context = SecretContext::SigningSecret { endpoint_id, secret_version };
        assert_eq!(secrets.open(context, &blob), Err(SecretBoxError::Refused), "{context:?}");
        assert_eq!(secrets.rewrap(&SystemDice, context, &blob), Err(SecretBoxError::Refused), "{context:?}");
    }
}

#[test]
fn opens_for_its_own_purpose_only() {
    let secrets = SecretBox::new(&kek(0), None);
    let headers = SecretContext::RequestHeaders { endpoint_id: "we_01" };
    let certificate = SecretContext::ClientCertificate { endpoint_id: "we_01" };
    // The second signing secret's context has the bytes of an endpoint id where the version is.
    let spliced =
        SecretContext::SigningSecret { endpoint_id: "1", secret_version: u32::from_be_bytes(*b"we_0") };
    for (sealed_for, others) in [
        (headers, [ENDPOINT, spliced, certificate, SecretContext::RequestHeaders { endpoint_id: "we_02" }]),
        (
            ENDPOINT,
            [
                headers,
                spliced,
                certificate,
                SecretContext::RequestHeaders { endpoint_id: "\0\0\0\u{2}we_01" },
            ],
        ),
        (spliced, [headers, ENDPOINT, certificate, SecretContext::RequestHeaders { endpoint_id: "" }]),
        (
            certificate,
            [headers, ENDPOINT, spliced, SecretContext::ClientCertificate { endpoint_id: "we_02" }],
        ),
    ] {
        let blob = secrets.seal(&SystemDice, sealed_for, SECRET).expect("seals");
        assert_eq!(*secrets.open(sealed_for, &blob).expect("opens"), SECRET);
        for other in others {
            assert_eq!(secrets.open(other, &blob), Err(SecretBoxError::Refused), "{other:?}");
            assert_eq!(secrets.rewrap(&SystemDice, other, &blob), Err(SecretBoxError::Refused), "{other:?}");
        }
    }
}

#[test]
fn opens_under_its_own_key_only() {
    let blob = SecretBox::new(&kek(0), None).seal(&SystemDice, ENDPOINT, SECRET).expect("seals");
    let open = |kek| SecretBox::new(&kek, None).open(ENDPOINT, &blob);
    assert_eq!(open(other_kek(false)), Err(SecretBoxError::UnknownKey));
    assert_eq!(open(other_kek(true)), Err(SecretBoxError::Refused));
}

#[test]
fn every_altered_byte_is_refused() {
    let (secrets, blob) = sealed();
    for position in 0..blob.len() {
        for bit in 0..8 {
            let mut altered = blob.clone();
            altered[position] ^= 1 << bit;
            let expected = match position {
                0 => SecretBoxError::UnknownForm,
                1 => SecretBoxError::UnknownKey,
                _ => SecretBoxError::Refused,
            };
            assert_eq!(secrets.open(ENDPOINT, &altered), Err(expected), "byte {position}, bit {bit}");
        }
    }
}

#[test]
fn every_shortened_blob_is_refused() {
    let (secrets, blob) = sealed();
    for length in 0..blob.len() {
        let expected = if length < 2 + NONCE_BYTES + TAG_BYTES {
            SecretBoxError::UnknownForm
        } else {
            SecretBoxError::Refused
        };
        assert_eq!(secrets.open(ENDPOINT, &blob[..length]), Err(expected), "{length} bytes");
    }
}

#[test]
fn rewrap_moves_a_blob_to_the_current_key_once() {
    for new_kek in [other_kek(false), other_kek(true)] {
        let before = SecretBox::new(&kek(0), None);
        let during = SecretBox::new(&new_kek, Some(&kek(0)));
        let after = SecretBox::new(&new_kek, None);
        let old_blob = before.seal(&SystemDice, ENDPOINT, SECRET).expect("seals");

        assert_eq!(*during.open(ENDPOINT, &old_blob).expect("previous key opens"), SECRET);
        let new_blob = during
            .rewrap(&SystemDice, ENDPOINT, &old_blob)
            .expect("rewraps")
            .expect("was under the previous key");
        assert_eq!(
            during.rewrap(&SystemDice, ENDPOINT, &new_blob),
            Ok(None),
            "already under the current key"
        );
        assert_eq!(*after.open(ENDPOINT, &new_blob).expect("opens without the previous key"), SECRET);
        assert!(before.open(ENDPOINT, &new_blob).is_err());
        assert!(after.open(ENDPOINT, &old_blob).is_err());
    }
}

#[test]
fn a_key_is_32_bytes_in_base64_and_nothing_else() {
    let text = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    assert_eq!(*Kek::parse(text).expect("padded").to_base64(), text);
    assert_eq!(Kek::parse(text.trim_end_matches('=')), Kek::parse(text));
    let refused = [
        "",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==", // 31 bytes
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g", // 33 bytes
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n", // a line end from a file
        " AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        "__ECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", // URL-safe alphabet
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", // hexadecimal
    ];
    for text in refused {
        assert_eq!(Kek::parse(text), Err(MalformedKey), "{text:?}");
    }
}

#[test]
fn the_cursor_key_is_derived_and_not_the_key_itself() {
    // Made with Node's crypto: hkdfSync("sha256", kek, 32 zero bytes, "authority cursors v1", 32).
    let expected = "3d446a78f273bc3d37cd6f38b05f591fa9eb07381619c7c1c95effd1f9f53d28";
    assert_eq!(hex::encode(*kek(0).cursor_key()), expected);
}

#[test]
fn debug_shows_no_key() {
    let kek = Kek::generate(&SystemDice);
    assert_eq!(format!("{kek:?}"), "Kek(redacted)");
    assert_eq!(format!("{:?}", SecretBox::new(&kek, Some(&kek))), "SecretBox { .. }");
}

proptest! {
    #[test]
    fn every_secret_comes_back(secret in any::<String>(), endpoint_id in any::<String>(), secret_version: u32) {
        let secrets = SecretBox::new(&kek(0), None);
        let context = SecretContext::SigningSecret { endpoint_id: &endpoint_id, secret_version };
        let blob = secrets.seal(&SystemDice, context, &secret).expect("seals");
        prop_assert_eq!(&*secrets.open(context, &blob).expect("opens"), &secret);
    }

    #[test]
    fn no_bytes_open_that_were_not_sealed(blob in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(SecretBox::new(&kek(0), None).open(ENDPOINT, &blob).is_err());
    }
}
