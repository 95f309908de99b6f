//! Input: what a [`Delivery`] is made of, then what was done to it on its way and what else is known of the request.

use arbitrary::{Arbitrary as _, Result, Unstructured};
use verify_core::Tolerance;
use verify_explain::{Explanation, HeaderLine, Trust, explain as causes_of};
use verify_reference::delivery::digest;

use crate::delivery::{Delivery, Joined};
use crate::pick::{one_of, rarely};

/// So many characters of a secret in a row are not said by accident, nor so many of a digest.
const SECRET_WINDOW: usize = 12;
const DIGEST_WINDOW: usize = 8;

/// # Panics
///
/// The verdict is another than that of the verification, a refusal has no cause or an acceptance has one, the answer is
/// no JSON text, or it has a part of a secret or of a digest that was expected.
pub fn explain(data: &[u8]) {
    let _ = try_explain(&mut Unstructured::new(data));
}

fn try_explain(u: &mut Unstructured<'_>) -> Result<()> {
    let delivery = Delivery::arbitrary(u)?;
    let joined = resigned(u, &delivery)?;
    let others: Vec<_> = (0..u.int_in_range(0..=9)?)
        .map(|_| Ok(verify_core::secret::generate([u.arbitrary()?; 32])))
        .collect::<Result<_>>()?;
    let lines = lines(u)?;
    let (secrets, others): (Vec<_>, Vec<_>) =
        (delivery.secrets.iter().map(String::as_str).collect(), others.iter().map(String::as_str).collect());
    let Ok(tolerance) = Tolerance::new(delivery.tolerance) else { return Ok(()) };
    let headers = joined.headers();
    let lines: Vec<_> = lines.iter().map(|(name, value)| HeaderLine { name, value }).collect();
    let given = verify_explain::Delivery { body: joined.body.as_deref(), headers, lines: &lines };
    let trust = Trust { secrets: &secrets, other_secrets: &others, tolerance, now: joined.now };
    match causes_of(&given, &trust) {
        Err(_) => assert!(secrets.len() > 8 || others.len() > 8),
        Ok(explanation) => {
            assert_eq!(explanation.code(), delivery.verdict(&joined), "{delivery:?}");
            assert_eq!(explanation.causes.is_empty(), explanation.verdict.is_ok(), "{delivery:?}");
            is_silent(&explanation, &[secrets, others].concat(), &joined);
        }
    }
    Ok(())
}

/// The delivery, at times signed over what its body was before something changed it, or with what a secret is taken
/// for.
fn resigned(u: &mut Unstructured<'_>, delivery: &Delivery) -> Result<Joined> {
    let mut joined = delivery.joined();
    let body = joined.body.clone().unwrap_or_default();
    let secret = delivery.secrets.first().cloned().unwrap_or_default();
    let ending = |text: &str| [&body, text.as_bytes()].concat();
    let (secret, body) = match u.int_in_range(0..=9)? {
        0..=2 => return Ok(joined),
        3 => (secret, ending(one_of(u, &["\n", "\r\n", " ", "\0"])?)),
        4 => (secret, body.trim_ascii().to_vec()),
        5 => (secret, [b"\xef\xbb\xbf", body.as_slice()].concat()),
        6 => (secret, String::from_utf8_lossy(&body).replace('\n', "\r\n").into_bytes()),
        7 => (secret.trim_start_matches("whsec_").to_owned(), body),
        8 => (format!("{secret}\n"), body),
        _ => (secret, body.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()),
    };
    let signature = format!("v1={}", digest(&secret, joined.timestamp.as_deref().unwrap_or_default(), &body));
    joined.signature = Some(signature.into_bytes());
    Ok(joined)
}

fn lines(u: &mut Unstructured<'_>) -> Result<Vec<(String, Vec<u8>)>> {
    const NAMES: [&str; 8] = [
        "Content-Length",
        "content-encoding",
        "x-service-signature",
        "HTTP_SERVICE_TIMESTAMP",
        "service_event_id",
        "Stripe-Signature",
        "webhook-signature",
        "",
    ];
    let mut lines = Vec::new();
    for _ in 0..u.int_in_range(0..=3)? {
        let name = if rarely(u, 4)? { u.arbitrary()? } else { one_of(u, &NAMES)?.to_owned() };
        lines.push((name, u.arbitrary()?));
    }
    Ok(lines)
}

fn is_silent(explanation: &Explanation, secrets: &[&str], joined: &Joined) {
    let json = explanation.to_json();
    assert!(verify_reference::Node::parse(json.as_bytes()).is_some(), "{json}");
    let holds_part = |text: &str, length: usize| {
        text.as_bytes().windows(length).any(|part| json.as_bytes().windows(length).any(|said| said == part))
    };
    let timestamp = joined.timestamp.as_deref().unwrap_or_default();
    let body = joined.body.as_deref().unwrap_or_default();
    for secret in secrets {
        // What is no secret by its form may be said to be none, but never shown either.
        assert!(!holds_part(secret.trim_start_matches("whsec_"), SECRET_WINDOW), "{json}");
        assert!(!holds_part(&digest(secret, timestamp, body), DIGEST_WINDOW), "{json}");
    }
}
