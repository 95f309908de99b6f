//! Keys that a sender may have made of a secret, and other strings that it may have signed.
//!
//! The guesses are about the body as it arrived: a mistake with the key and a change of the body at once are not
//! looked for. Every text made of a secret is zeroed when it is dropped.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use verify_core::secret::PREFIX;
use zeroize::{Zeroize as _, Zeroizing};

use crate::cause::Cause;
use crate::digest::{Key, decode_base64, decode_hex, encode_base64, encode_hex};
use crate::wrapping::percent_decoded;

type KeyBytes = Zeroizing<Vec<u8>>;

/// What a sender may have used as its key instead of this text.
pub(crate) fn guesses(secret: &str) -> Vec<(Cause, &'static str, KeyBytes)> {
    let rest = secret.strip_prefix(PREFIX).unwrap_or(secret);
    let text = |text: String| Zeroizing::new(text.into_bytes());
    let mut guesses = Vec::new();
    if rest.starts_with(PREFIX) {
        guesses.push((Cause::SecretStrayEnd, "the secret with whsec_ once", text(String::from(rest))));
    }
    guesses.extend([
        (Cause::KeyWithoutPrefix, "what follows whsec_", text(String::from(rest))),
        (Cause::SecretBlanks, "the secret and a line feed", text(format!("{secret}\n"))),
        (Cause::SecretBlanks, "the secret and CR LF", text(format!("{secret}\r\n"))),
        (Cause::SecretBlanks, "the secret and a blank", text(format!("{secret} "))),
        (Cause::SecretBlanks, "a blank and the secret", text(format!(" {secret}"))),
        (Cause::SecretQuoted, "the secret between quotation marks", text(format!("\"{secret}\""))),
    ]);
    guesses.extend(encoded(secret, rest));
    if let Some(bytes) = decode_base64(rest.as_bytes()) {
        guesses.push((Cause::KeyDecoded, "what follows whsec_, decoded as base64", Zeroizing::new(bytes)));
    }
    if let Some(bytes) = decode_hex(rest.as_bytes()) {
        guesses.push((
            Cause::KeyDecoded,
            "what follows whsec_, decoded as hexadecimal",
            Zeroizing::new(bytes),
        ));
    }
    guesses.extend(other_case(secret, rest));
    let bare = without_stray_end(secret);
    if bare.len() < secret.len() {
        guesses.push((
            Cause::SecretStrayEnd,
            "the secret without its last characters",
            text(String::from(bare)),
        ));
    }
    guesses
}

fn other_case(secret: &str, rest: &str) -> impl Iterator<Item = (Cause, &'static str, KeyBytes)> {
    [
        ("the secret in lowercase letters", format!("{PREFIX}{}", rest.to_ascii_lowercase())),
        ("the secret with capitals behind whsec_", format!("{PREFIX}{}", rest.to_ascii_uppercase())),
        ("the secret in capitals", secret.to_ascii_uppercase()),
    ]
    .map(|(name, text)| (Cause::SecretCase, name, Zeroizing::new(text.into_bytes())))
    .into_iter()
}

/// The secret or its rest encoded by the sender, and decoded where it is configured in an encoded form.
fn encoded(secret: &str, rest: &str) -> Vec<(Cause, &'static str, KeyBytes)> {
    let behind_prefix = |text: &[u8]| Zeroizing::new([PREFIX.as_bytes(), text].concat());
    let base64 = |text: &str, padding| Zeroizing::new(encode_base64(text.as_bytes(), padding));
    let hex = |text: &str| Zeroizing::new(encode_hex(text.as_bytes()));
    let mut keys = Vec::from([
        ("whsec_ and the rest in base64", behind_prefix(&base64(rest, true))),
        ("whsec_ and the rest in base64 without padding", behind_prefix(&base64(rest, false))),
        ("the rest behind whsec_ in base64", base64(rest, true)),
        ("the rest behind whsec_ in base64 without padding", base64(rest, false)),
        ("the secret in base64", base64(secret, true)),
        ("the secret in base64 without padding", base64(secret, false)),
        ("whsec_ and the rest in hexadecimal", behind_prefix(&hex(rest))),
        ("the rest behind whsec_ in hexadecimal", hex(rest)),
        ("the secret in hexadecimal", hex(secret)),
    ]);
    for (whole, prefixed, decoded) in [
        (
            "what base64 behind whsec_ says",
            "whsec_ and what the base64 behind it says",
            decode_base64(rest.as_bytes()),
        ),
        (
            "what hexadecimal digits behind whsec_ say",
            "whsec_ and what the hexadecimal digits behind it say",
            decode_hex(rest.as_bytes()),
        ),
        (
            "what percent signs behind whsec_ say",
            "whsec_ and what the percent signs behind it say",
            percent_decoded(rest.as_bytes()),
        ),
    ] {
        let Some(decoded) = decoded.map(Zeroizing::new) else { continue };
        keys.push((prefixed, behind_prefix(&decoded)));
        // Without the prefix it is a key that a sender has decoded.
        if decoded.starts_with(PREFIX.as_bytes()) {
            keys.push((whole, decoded));
        }
    }
    keys.into_iter().map(|(name, key)| (Cause::KeyEncoded, name, key)).collect()
}

/// Characters of a secret that nobody guesses: 128 bits of base62. A shorter key is never tried. Whoever may ask and
/// chooses the signature would learn from the answers one character of the secret after the other.
const KEPT_MIN: usize = 22;

/// The secret with a character more than is configured, at its end or behind the prefix; or with characters less, as a
/// sender may have it, but at least [`KEPT_MIN`].
pub(crate) fn other_length(secret: &str, fits: &mut dyn FnMut(&[u8]) -> bool) -> Option<&'static str> {
    let rest = secret.strip_prefix(PREFIX)?;
    let mut key = KeyBytes::default();
    let mut is = |parts: [&[u8]; 3]| {
        key.zeroize();
        parts.iter().for_each(|part| key.extend_from_slice(part));
        fits(&key)
    };
    for character in 0x21..=0x7e {
        if is([secret.as_bytes(), &[character], b""]) {
            return Some("the secret and one character more at its end");
        }
        if is([PREFIX.as_bytes(), &[character], rest.as_bytes()]) {
            return Some("the secret and one character more behind whsec_");
        }
    }
    for cut in 1..=rest.len().saturating_sub(KEPT_MIN) {
        if is([secret.as_bytes().get(..secret.len() - cut)?, b"", b""]) {
            return Some("the secret without its end");
        }
        if is([PREFIX.as_bytes(), rest.as_bytes().get(cut..)?, b""]) {
            return Some("the secret without the characters behind whsec_");
        }
    }
    None
}

/// Without what shells and configuration files leave behind a value.
fn without_stray_end(mut secret: &str) -> &str {
    const ENDS: [&str; 9] = ["\\n", "\\r", "\"", "'", "`", ",", ";", "%", "\\"];
    while let Some(shorter) = ENDS.iter().find_map(|end| secret.strip_suffix(end)) {
        secret = shorter;
    }
    secret
}

/// What a sender may have signed instead of timestamp, full stop and body.
pub(crate) fn other_strings(
    timestamp: &[u8],
    event_id: &[u8],
    body: &[u8],
    fits: &mut dyn FnMut(&[&[u8]]) -> bool,
) -> Option<&'static str> {
    let strings: [(&str, &[&[u8]]); 7] = [
        ("the body alone", &[body]),
        ("timestamp and body without the full stop", &[timestamp, body]),
        ("event id, timestamp and body", &[event_id, b".", timestamp, b".", body]),
        ("timestamp and body with a colon between them", &[timestamp, b":", body]),
        ("timestamp and body with a line feed between them", &[timestamp, b"\n", body]),
        ("body and timestamp", &[body, b".", timestamp]),
        ("timestamp, event id and body", &[timestamp, b".", event_id, b".", body]),
    ];
    strings.into_iter().find(|(_, parts)| fits(parts)).map(|(name, _)| name)
}

/// The keys of these secrets, as they are.
pub(crate) fn plain(secrets: &[&str]) -> Vec<Key> {
    secrets.iter().map(|secret| Key::new(secret.as_bytes())).collect()
}
