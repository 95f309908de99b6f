//! The fuzz targets: what must hold for every input. Each is a function of bytes that panics when something does not.
//!
//! - [`headers`]: the three headers as raw bytes, digests put in where the bytes ask for one, on a body that is right.
//! - [`secrets`]: which texts are secrets, that they sign and verify, and that none is ever shown.
//! - [`json`]: the JSON text by itself: grammar, limits, members, fields.
//! - [`verify`]: a whole [`Delivery`]; signing and verifying; one bit flipped.
//! - [`explain`]: what is said of a delivery that is refused, and that nothing secret is.

mod explain;

pub use explain::explain;

use arbitrary::{Arbitrary as _, Unstructured};
use verify_core::json::{Duplicates, MAX_DEPTH, check};
use verify_core::{
    Envelope, Headers, Secret, Tolerance, VerificationCode, Verifier, event, header, secret, sign,
};
use verify_reference::delivery::{digest, is_secret};
use verify_reference::{Node, event as slow_event};

use crate::delivery::{Delivery, Joined};

const BODY: &[u8] = br#"{"id":"evt_1","type":"webhook.test","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","merchant":{"id":"mer_1","slug":"a"},"data":{"object":{}}}"#;
/// What the receiver of [`headers`] trusts.
const SECRETS: [&str; 2] = ["whsec_a", "whsec_b"];

/// Input: lines `timestamp`, `event id`, `seconds from the timestamp to now`, and the rest is the signature header. In
/// it the bytes 1 and 2 stand for the digest under either secret, 3 for the first with its last character changed.
///
/// # Panics
///
/// A verdict differs from the reference's, or lines are joined otherwise than by the rule.
pub fn headers(data: &[u8]) {
    let mut parts = data.splitn(4, |byte| *byte == b'\n');
    let timestamp = parts.next().unwrap_or_default();
    let event_id = parts.next().unwrap_or_default();
    let offset =
        parts.next().and_then(|text| std::str::from_utf8(text).ok()?.parse::<i32>().ok()).unwrap_or_default();
    let template = parts.next().unwrap_or_default();

    let [good, other] = SECRETS.map(|secret| digest(secret, timestamp, BODY));
    let mut wrong = good.clone();
    wrong.pop();
    wrong.push(if good.ends_with('0') { '1' } else { '0' });
    let mut signature = Vec::new();
    for byte in template {
        match byte {
            1 => signature.extend_from_slice(good.as_bytes()),
            2 => signature.extend_from_slice(other.as_bytes()),
            3 => signature.extend_from_slice(wrong.as_bytes()),
            byte => signature.push(*byte),
        }
    }
    let sent =
        std::str::from_utf8(timestamp).ok().and_then(|text| text.parse::<i64>().ok()).unwrap_or_default();
    let now = sent.saturating_add(i64::from(offset));
    let secrets = SECRETS.map(str::to_owned);
    let slow = verify_reference::Delivery {
        body: Some(BODY),
        timestamp: Some(timestamp),
        signature: Some(&signature),
        event_id: Some(event_id),
        secrets: &secrets,
        tolerance: 300,
        now,
    };
    let given = Headers { timestamp: Some(timestamp), signature: Some(&signature), event_id: Some(event_id) };
    let verifier = Verifier::new(&SECRETS, Tolerance::DEFAULT);
    let verdict = verifier.map(|verifier| word(verifier.verify(Some(BODY), &given, now)));
    assert_eq!(verdict, Ok(slow.verdict()), "{given:?} at {now}");
    joining(template);
}

fn word(verdict: Result<Envelope<'_>, VerificationCode>) -> &'static str {
    verdict.map_or_else(VerificationCode::as_str, |_| "ok")
}

/// Joining the lines of a header (contract 10.1).
fn joining(text: &[u8]) {
    let lines: Vec<_> = text.split(|byte| *byte == b'\r').collect();
    let joined = header::join_lines(lines.iter().copied());
    let blanks = |byte: &&u8| matches!(byte, b' ' | b'\t');
    let plain = lines.join(&b", "[..]);
    let before = plain.iter().take_while(blanks).count();
    let after = plain.iter().skip(before).rev().take_while(blanks).count();
    assert_eq!(joined.as_deref(), plain.get(before..plain.len() - after));
    assert_eq!(header::join_lines(std::iter::empty()), None);
}

/// Input: one secret per line.
///
/// # Panics
///
/// A text is taken or refused against the rule, a digest is wrong, a good signature fails, a bad one holds, or more
/// than three characters of a secret are shown.
pub fn secrets(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let texts: Vec<_> = text.split('\n').collect();
    for text in &texts {
        let hint = secret::hint(text);
        assert!(hint.chars().count() <= 4, "{hint}");
        let parsed = Secret::parse(text);
        assert_eq!(parsed.is_ok(), is_secret(text), "{text:?}");
        let Ok(parsed) = parsed else { continue };
        assert_eq!(format!("{parsed:?}"), "Secret(redacted)");
        assert_eq!(parsed.sign(b"1788264000", data), digest(text, b"1788264000", data).as_bytes());
    }
    let verifier = Verifier::new(&texts, Tolerance::DEFAULT);
    assert_eq!(verifier.is_err(), texts.len() > 8);
    let mut random = [0; 32];
    random.iter_mut().zip(data).for_each(|(to, from)| *to = *from);
    let issued = secret::generate(random);
    assert!(is_secret(&issued), "an issued secret is not usable");
    // Whether a receiver accepts depends on who signed, and on every secret being usable.
    let usable = texts.len() <= 8 && texts.iter().all(|text| is_secret(text));
    for (signer, trusted) in texts.iter().map(|text| (*text, true)).chain([(issued.as_str(), false)]) {
        let (Ok(key), Ok(verifier)) = (Secret::parse(signer), &verifier) else { continue };
        let signature = sign::signature_header([&key], "1788264000", BODY);
        let given = Headers {
            timestamp: Some(b"1788264000"),
            signature: Some(signature.as_bytes()),
            event_id: Some(b"evt_1"),
        };
        let verdict = word(verifier.verify(Some(BODY), &given, 1_788_264_000));
        let expected = match (usable, trusted || texts.contains(&signer)) {
            (false, _) => "invalid_secret",
            (true, false) => "invalid_signature",
            (true, true) => "ok",
        };
        assert_eq!(verdict, expected);
    }
}

/// Input: a JSON text.
///
/// # Panics
///
/// A verdict or a field differs from the reference's.
pub fn json(data: &[u8]) {
    let tree = Node::parse(data);
    let verdict = event::read(data);
    let word = verdict.as_ref().map_or_else(|code| code.as_str(), |_| "ok");
    assert_eq!(word, slow_event::verdict(data), "{}", String::from_utf8_lossy(data));
    if let (Ok(envelope), Some(root)) = (&verdict, &tree) {
        compare_fields(envelope, root);
        assert_eq!(envelope.text.as_bytes(), data);
    }
    let depth = tree.as_ref().map(Node::depth);
    for room in [0, 1, 3, 64, MAX_DEPTH, u8::MAX] {
        let fits = depth.is_some_and(|depth| depth <= usize::from(room));
        assert_eq!(check(data, room, Duplicates::Allowed).is_ok(), fits, "depth {room}");
    }
    let unique = tree.is_some_and(|tree| !tree.repeats_anywhere());
    assert_eq!(check(data, MAX_DEPTH, Duplicates::Refused).is_ok(), unique);
}

fn compare_fields(envelope: &Envelope<'_>, root: &Node) {
    let number = |node: Option<&Node>| match node {
        Some(Node::Number(number)) => Some(*number),
        _ => None,
    };
    let merchant = |name| root.get("merchant").and_then(|merchant| merchant.text(name));
    assert_eq!(root.text("id"), Some(envelope.id.as_ref()));
    assert_eq!(root.text("type"), Some(envelope.event_type.as_ref()));
    assert_eq!(root.text("api_version"), Some(envelope.api_version.as_ref()));
    assert_eq!(root.text("created_at"), Some(envelope.created_at.as_ref()));
    assert_eq!(merchant("id"), Some(envelope.merchant_id.as_ref()));
    assert_eq!(merchant("slug"), Some(envelope.merchant_slug.as_ref()));
    assert_eq!(number(root.get("sequence")), envelope.sequence.map(|number| number as f64));
    assert_eq!(number(root.get("resource_version")), envelope.resource_version.map(|number| number as f64));
    assert_eq!(matches!(root.get("livemode"), Some(Node::Bool)), envelope.livemode.is_some());
}

/// Input: what a [`Delivery`] is made of; the last bytes say which bit is flipped.
///
/// # Panics
///
/// A verdict differs from the reference's; what was signed does not verify; a flipped bit is accepted.
pub fn verify(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let Ok(delivery) = Delivery::arbitrary(&mut u) else { return };
    let joined = delivery.joined();
    let verdict = delivery.verdict(&joined);
    assert_eq!(verdict, delivery.reference(&joined), "{delivery:?}");
    let bit = u.arbitrary().unwrap_or_default();
    if verdict == "ok" {
        no_flipped_bit_holds(&delivery, &joined, bit);
    }
    what_is_signed_verifies(&delivery, &joined);
}

fn no_flipped_bit_holds(delivery: &Delivery, joined: &Joined, bit: u32) {
    let flipped = |part: Option<&Vec<u8>>| {
        let mut bytes = part.cloned().unwrap_or_default();
        let at = bit as usize % (bytes.len() * 8).max(1);
        if let Some(byte) = bytes.get_mut(at / 8) {
            *byte ^= 1 << (at % 8);
        }
        Some(bytes)
    };
    let altered = [
        Joined { body: flipped(joined.body.as_ref()), ..joined.clone() },
        Joined { timestamp: flipped(joined.timestamp.as_ref()), ..joined.clone() },
        Joined { event_id: flipped(joined.event_id.as_ref()), ..joined.clone() },
    ];
    for altered in altered {
        let verdict = delivery.verdict(&altered);
        assert_ne!(verdict, "ok", "bit {bit}: {delivery:?}");
        assert_eq!(verdict, delivery.reference(&altered), "bit {bit}: {delivery:?}");
    }
}

/// The same body, signed as the authority signs, for the same receiver: refused only for what is in the body.
fn what_is_signed_verifies(delivery: &Delivery, joined: &Joined) {
    let keys: Result<Vec<_>, _> = delivery.secrets.iter().map(|text| Secret::parse(text)).collect();
    let (Ok(keys), Some(verifier), Some(body)) = (keys, delivery.verifier(), &joined.body) else { return };
    if keys.is_empty() || body.is_empty() {
        return;
    }
    let expected = slow_event::verdict(body);
    let id = Node::parse(body);
    let id = id.as_ref().and_then(|root| root.text("id")).map(str::as_bytes);
    let signature = sign::signature_header(&keys, "1788264000", body);
    let given =
        Headers { timestamp: Some(b"1788264000"), signature: Some(signature.as_bytes()), event_id: id };
    for now in [1_788_264_000 - delivery.tolerance, 1_788_264_000 + delivery.tolerance] {
        let verdict = word(verifier.verify(Some(body), &given, now));
        assert_eq!(verdict, expected, "{delivery:?}");
    }
}
