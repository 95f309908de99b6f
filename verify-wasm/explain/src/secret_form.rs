//! Secrets that no verifier takes (contract 10.5): what is wrong with their text.
//!
//! Whether the mended text is the right secret is told when the signature says so. Neither a secret's length nor any
//! character of it is told; a secret is named by its place in the configuration.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use verify_core::Secret;
use verify_core::base62;
use verify_core::secret::{MAX_CHARS, PREFIX};
use zeroize::Zeroizing;

use crate::cause::Cause;
use crate::digest::{Claimed, Key};
use crate::report::Finding;
use crate::text::find;
use crate::{Delivery, Trust};

/// A shorter one is somebody's own, for a test.
const SUSPICIOUS_CHARS: usize = 24;

/// What is wrong with each secret that is unusable.
pub(crate) fn causes(delivery: &Delivery<'_>, trust: &Trust<'_>) -> Vec<Finding> {
    if trust.secrets.is_empty() {
        return vec![Finding::new(Cause::SecretMissing, "No secret is configured.")];
    }
    let unusable = trust.secrets.iter().enumerate().filter(|(_, text)| Secret::parse(text).is_err());
    unusable.map(|(index, text)| fault(&name(index, trust.secrets.len()), text, delivery)).collect()
}

/// What about usable secrets is suspicious when no signature fits them. Those of the service are 43 digits and
/// letters of both cases behind `whsec_`; only secrets that are like them are spoken of.
pub(crate) fn suspicions(trust: &Trust<'_>) -> Vec<Finding> {
    let of = trust.secrets.len();
    let suspicion = |(index, text): (usize, &&str)| {
        let rest = text.strip_prefix(PREFIX)?;
        let has = |is: fn(&u8) -> bool| rest.as_bytes().iter().any(is);
        let (cause, problem) = if (SUSPICIOUS_CHARS..base62::WIDTH).contains(&rest.len()) {
            (Cause::SecretCutOff, "is shorter than those that the service issues")
        } else if rest.len() == base62::WIDTH && has(u8::is_ascii_uppercase) != has(u8::is_ascii_lowercase) {
            (Cause::SecretCase, "has letters of one case alone, where the service issues both")
        } else {
            return None;
        };
        Some(Finding::new(cause, format!("{} {problem}.", name(index, of))))
    };
    trust.secrets.iter().enumerate().filter_map(suspicion).collect()
}

/// `The secret`, or which of several.
pub(crate) fn name(index: usize, of: usize) -> String {
    if of == 1 { String::from("The secret") } else { format!("Secret {} of {of}", index + 1) }
}

fn fault(name: &str, text: &str, delivery: &Delivery<'_>) -> Finding {
    let plain = text.trim_matches(is_blank);
    let unquoted = plain.trim_matches(|c| matches!(c, '"' | '\'' | '`')).trim_matches(is_blank);
    let (cause, problem, mended) = if plain.is_empty() {
        (Cause::SecretMissing, "is empty", None)
    } else if unquoted.len() < plain.len() {
        (Cause::SecretQuoted, "has quotation marks around it", Some(unquoted))
    } else if plain.len() < text.len() {
        (Cause::SecretBlanks, blanks(text), Some(plain))
    } else {
        without_blanks(plain)
    };
    let mut evidence = format!("{name} {problem}.");
    // A secret without its prefix may be mended by putting it back.
    let mended = mended.map(|text| Zeroizing::new(String::from(text)));
    let prefixed = Zeroizing::new(format!("{PREFIX}{unquoted}"));
    if mended.is_some_and(|text| fits(&text, delivery)) {
        evidence.push_str(" Without that, the signature fits.");
    } else if !unquoted.starts_with(PREFIX) && fits(&prefixed, delivery) {
        evidence.push_str(" With whsec_ in front, the signature fits.");
    }
    Finding::new(cause, evidence)
}

/// The problem of a text that has neither blanks nor quotation marks around it.
fn without_blanks(text: &str) -> (Cause, &'static str, Option<&str>) {
    match (text.strip_prefix(PREFIX), find(text, PREFIX)) {
        (Some(""), _) => (Cause::SecretMissing, "is nothing but whsec_", None),
        (Some(_), _) if text.len() > MAX_CHARS => {
            (Cause::SecretCharacters, "is longer than 512 characters", None)
        }
        (Some(_), _) if text.contains(is_blank) => {
            (Cause::SecretCharacters, "has a blank or a line end inside", None)
        }
        (Some(_), _) => (Cause::SecretCharacters, "has characters other than visible ASCII", None),
        (None, Some(at)) => {
            let problem = "has something in front of whsec_, the name of a variable perhaps";
            (Cause::SecretPrefixMissing, problem, text.get(at..))
        }
        (None, None) if text.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX)) => {
            (Cause::SecretPrefixMissing, "does not begin with whsec_ in lowercase", None)
        }
        (None, None) => (Cause::SecretPrefixMissing, "does not begin with whsec_", None),
    }
}

fn blanks(text: &str) -> &'static str {
    if text.ends_with("\r\n") {
        "has a line end (CR LF) behind it"
    } else if text.ends_with('\n') {
        "has a line end behind it"
    } else if text.ends_with(is_blank) {
        "has a blank behind it"
    } else {
        "has a blank or a line end in front of it"
    }
}

/// White space of Unicode, and the byte order mark, which is none.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}

fn fits(secret: &str, delivery: &Delivery<'_>) -> bool {
    let Some(timestamp) = delivery.headers.timestamp else { return false };
    let claimed = Claimed::of(delivery.headers.signature.unwrap_or_default());
    claimed.holds(&Key::new(secret.as_bytes()).digest(&[timestamp, b".", delivery.body.unwrap_or_default()]))
}
