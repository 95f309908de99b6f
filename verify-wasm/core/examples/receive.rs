//! Both sides of one delivery: signs it, verifies it, and shows how three bad ones are refused. Exits with an error
//! when any verdict is another than the one it names.

use std::error::Error;

use verify_core::verify::Headers;
use verify_core::{Secret, Tolerance, VerificationCode, Verifier, secret, sign};

const NOW: i64 = 1_788_264_000;
const BODY: &str = r#"{"id":"evt_1","type":"webhook.test","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","merchant":{"id":"mer_1","slug":"a"},"data":{"object":{}}}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let timestamp = NOW.to_string();
    // A sender draws these bytes at random.
    let (ours, theirs) = (secret::generate([1; 32]), secret::generate([2; 32]));
    let secret = Secret::parse(&ours).map_err(|_| "the secret is not usable")?;
    let signature = sign::signature_header([&secret], &timestamp, BODY.as_bytes());
    let headers = Headers {
        timestamp: Some(timestamp.as_bytes()),
        signature: Some(signature.as_bytes()),
        event_id: Some(b"evt_1"),
    };
    let verifier = Verifier::new(&[&ours], Tolerance::DEFAULT)?;
    let event = verifier.verify(Some(BODY.as_bytes()), &headers, NOW).map_err(VerificationCode::as_str)?;
    println!("verified: {} {}", event.event_type, event.id);

    let altered = BODY.replace("evt_1", "evt_2");
    let foreign = Verifier::new(&[&theirs], Tolerance::DEFAULT)?;
    for (name, verdict, expected) in [
        (
            "altered",
            verifier.verify(Some(altered.as_bytes()), &headers, NOW),
            VerificationCode::InvalidSignature,
        ),
        (
            "old",
            verifier.verify(Some(BODY.as_bytes()), &headers, NOW + 301),
            VerificationCode::StaleTimestamp,
        ),
        ("foreign", foreign.verify(Some(BODY.as_bytes()), &headers, NOW), VerificationCode::InvalidSignature),
    ] {
        match verdict {
            Err(code) if code == expected => println!("{name}: refused, {}", code.as_str()),
            other => return Err(format!("{name}: {other:?}").into()),
        }
    }
    Ok(())
}
