//! Keys that a sender may have made of a secret, and other strings that it may have signed.
//!
//! The guesses are about the body as it arrived: a mistake with the key and a change of the body at once are not
//! looked for. Every text made of a secret is zeroed when it is dropped.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use verify_core::secret::PREFIX;
use zeroize::Zeroizing;

use crate::cause::Cause;
use crate::digest::{Key, decode_base64, decode_hex};

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
