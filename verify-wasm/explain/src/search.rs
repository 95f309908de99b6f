//! The search behind `invalid_signature`: which mistake, undone, makes a signature of the header fit?
//!
//! First the body as it is: in another form of the signature, under another key, as another string. Then the body with
//! one change undone, under the configured secrets. The first fit is certain and ends the search. Without one, what
//! only looks suspicious is told, and at the end that another secret or other bytes are what remains.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use verify_core::{VerificationCode, Verifier};

use crate::cause::Cause;
use crate::digest::{Claimed, Key};
use crate::report::Finding;
use crate::text::{count, trim};
use crate::{BODY_LIMIT, Delivery, Trust};
use crate::{body_shape, keys, layout, plain_bytes, secret_form, signature_form, wrapping};

/// With longer bodies a few hundred keys take too long.
const LENGTHS_BODY_MAX: usize = 64 << 10;

/// Tells whether a signature of the header is that of such a body.
pub(crate) type Fits<'f> = &'f mut dyn FnMut(&[u8]) -> bool;

/// Why no signature of the header is that of the body.
pub(crate) fn causes(delivery: &Delivery<'_>, trust: &Trust<'_>) -> Vec<Finding> {
    let header = trim(delivery.headers.signature.unwrap_or_default());
    let mut causes = signature_form::causes(header);
    let search = Search::new(header, delivery, trust);
    if search.claimed.len() == 0 {
        // Nothing to compare with: the form of the header is the whole answer.
        return causes;
    }
    if search.fits(&search.signed_parts(search.body)).is_some() {
        if causes.is_empty() {
            // It stands beside a v1 signature of another body or secret, for which other schemes are welcome.
            causes.push(signature_form::other_scheme());
        }
        for finding in &mut causes {
            finding.evidence.push_str(" Written as it should be, it fits.");
        }
        return causes;
    }
    if let Some(found) = search.other_key().or_else(|| search.other_body()) {
        causes.insert(0, found);
        return causes;
    }
    causes.extend(secret_form::suspicions(trust));
    causes.extend(body_shape::suspicions(delivery));
    if search.body.len() > BODY_LIMIT {
        let evidence = format!("The body has {} bytes; changes of it were not tried.", search.body.len());
        causes.push(Finding::new(Cause::BodyTooLarge, evidence));
    }
    causes.push(search.nothing_fits());
    causes
}

/// Whether the delivery's signature is right, whatever else is wrong.
pub(crate) fn signature_holds(delivery: &Delivery<'_>, trust: &Trust<'_>) -> bool {
    let text = delivery.headers.timestamp.and_then(|text| core::str::from_utf8(text).ok());
    let Some(then) = text.and_then(|text| text.parse().ok()) else { return false };
    let Ok(verifier) = Verifier::new(trust.secrets, trust.tolerance) else { return false };
    match verifier.verify(delivery.body, &delivery.headers, then) {
        Ok(_) => true,
        Err(code) => code > VerificationCode::InvalidSignature,
    }
}

struct Search<'a> {
    timestamp: &'a [u8],
    event_id: &'a [u8],
    body: &'a [u8],
    trust: &'a Trust<'a>,
    claimed: Claimed,
    keys: Vec<Key>,
}

impl<'a> Search<'a> {
    fn new(header: &[u8], delivery: &Delivery<'a>, trust: &'a Trust<'a>) -> Self {
        Self {
            timestamp: delivery.headers.timestamp.unwrap_or_default(),
            event_id: delivery.headers.event_id.unwrap_or_default(),
            body: delivery.body.unwrap_or_default(),
            trust,
            claimed: Claimed::of(header),
            keys: keys::plain(trust.secrets),
        }
    }

    fn signed_parts<'p>(&'p self, body: &'p [u8]) -> [&'p [u8]; 3] {
        [self.timestamp, b".", body]
    }

    /// The place of the configured secret under which these parts have a signature of the header.
    fn fits(&self, parts: &[&[u8]]) -> Option<usize> {
        self.keys.iter().position(|key| self.claimed.holds(&key.digest(parts)))
    }

    /// The body as it is, under a key that is not configured or as another string.
    fn other_key(&self) -> Option<Finding> {
        let parts = self.signed_parts(self.body);
        let holds = |key: Key| self.claimed.holds(&key.digest(&parts));
        for (index, text) in self.trust.other_secrets.iter().enumerate() {
            if holds(Key::new(text.as_bytes())) || holds(Key::new(text.trim().as_bytes())) {
                let number = format!("{} of {}", index + 1, self.trust.other_secrets.len());
                let evidence = format!(
                    "The signature fits secret {number} of those handed in for comparison, and no configured one."
                );
                return Some(Finding::new(Cause::OtherSecret, evidence));
            }
        }
        for (index, text) in self.trust.secrets.iter().enumerate() {
            let guesses = keys::guesses(text);
            if let Some((cause, key, _)) = guesses.into_iter().find(|(_, _, bytes)| holds(Key::new(bytes))) {
                let evidence = format!("The signature fits when the key is {key}{}.", self.of_secret(index));
                return Some(Finding::new(cause, evidence));
            }
        }
        if let Some(found) = self.other_length() {
            return Some(found);
        }
        let mut place = 0;
        let string = keys::other_strings(self.timestamp, self.event_id, self.body, &mut |parts| {
            self.fits(parts).map(|index| place = index).is_some()
        })?;
        let evidence = format!("The signature is that of {string}{}.", self.of_secret(place));
        Some(Finding::new(Cause::SignedOtherString, evidence))
    }

    /// A secret with a character more, or with characters less at the sender.
    fn other_length(&self) -> Option<Finding> {
        if self.body.len() > LENGTHS_BODY_MAX {
            return None;
        }
        let parts = self.signed_parts(self.body);
        self.trust.secrets.iter().enumerate().find_map(|(index, text)| {
            let key = keys::other_length(text, &mut |key| self.claimed.holds(&Key::new(key).digest(&parts)))?;
            let evidence = format!("The signature fits when the key is {key}{}.", self.of_secret(index));
            Some(Finding::new(Cause::SecretCutOff, evidence))
        })
    }

    /// The body with one change undone, under a configured secret.
    fn other_body(&self) -> Option<Finding> {
        if self.body.len() > BODY_LIMIT {
            return None;
        }
        let mut place = 0;
        let mut fits = |body: &[u8]| self.fits(&self.signed_parts(body)).map(|index| place = index).is_some();
        let mut found = plain_bytes::undone(self.body, &mut fits)
            .or_else(|| wrapping::undone(self.body, &mut fits))
            .or_else(|| layout::undone(self.body, &mut fits))?;
        if self.keys.len() > 1 {
            found.evidence.push_str(&format!(" It is that of secret {} of {}.", place + 1, self.keys.len()));
        }
        Some(found)
    }

    fn of_secret(&self, index: usize) -> String {
        match self.keys.len() {
            1 => String::new(),
            of => format!(" (of secret {} of {of})", index + 1),
        }
    }

    fn nothing_fits(&self) -> Finding {
        let secrets = match self.keys.len() {
            1 => String::from("the configured secret"),
            of => format!("the {of} configured secrets"),
        };
        let evidence = format!(
            "The header has {}, and none fits this body under {secrets}, nor after any usual change of either.",
            count(self.claimed.len(), "signature")
        );
        Finding::new(Cause::OtherSecretOrBytes, evidence)
    }
}
