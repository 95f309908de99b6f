//! `authority verify`: what a receiver would answer to a delivery, by the same core (contract 10).
//!
//! The options are the header values, the body comes on standard input; a header whose option is left out is absent.
//! Prints `ok` or the code of contract 10.2 and ends with 0 or 1. A secret that is set but unusable is such a code
//! (`invalid_secret`); a variable that is not set at all is wrong usage.

use std::ffi::OsString;

use serde_json::json;
use verify_core::verify::MAX_SECRETS;
use verify_core::{Envelope, Headers, Tolerance, VerificationCode, Verifier};

use super::secrets;
use super::{Exit, Failure, Process, args, vectors};

pub(super) fn run(args: args::Verify, process: &mut Process<'_>) -> Result<Exit, Failure> {
    if let Some(file) = &args.vectors {
        return vectors::run(file, args.json, process);
    }
    let tolerance = Tolerance::new(args.tolerance)
        .map_err(|_| Failure::Usage("--tolerance must be 1 to 3600 seconds".to_owned()))?;
    let secrets = secrets::from_environment(args.secret_env, process.environment)?;
    let secrets: Vec<&str> = secrets.iter().map(|secret| secret.text.as_str()).collect();
    let verifier = Verifier::new(&secrets, tolerance)
        .map_err(|_| Failure::Usage(format!("--secret-env can be given at most {MAX_SECRETS} times")))?;
    let now = args.now.unwrap_or_else(|| process.clock.now_ms().div_euclid(1000));
    let mut body = Vec::new();
    process.stdin.read_to_end(&mut body)?;
    let headers = Headers {
        timestamp: args.timestamp.as_ref().map(bytes),
        signature: args.signature.as_ref().map(bytes),
        event_id: args.event_id.as_ref().map(bytes),
    };
    let verdict = verifier.verify(Some(&body), &headers, now);
    let line = if args.json { json_line(&verdict) } else { text_line(&verdict).to_owned() };
    writeln!(process.stdout, "{line}")?;
    Ok(if verdict.is_ok() { Exit::Done } else { Exit::Failed })
}

fn bytes(argument: &OsString) -> &[u8] {
    argument.as_encoded_bytes()
}

fn text_line(verdict: &Result<Envelope<'_>, VerificationCode>) -> &'static str {
    match verdict {
        Ok(_) => "ok",
        Err(code) => code.as_str(),
    }
}

fn json_line(verdict: &Result<Envelope<'_>, VerificationCode>) -> String {
    let code = text_line(verdict);
    let Ok(event) = verdict else { return json!({ "code": code }).to_string() };
    json!({
        "code": code,
        "event": {
            "id": event.id,
            "type": event.event_type,
            "api_version": event.api_version,
            "created_at": event.created_at,
            "sequence": event.sequence,
            "resource_version": event.resource_version,
            "livemode": event.livemode,
            "merchant": { "id": event.merchant_id, "slug": event.merchant_slug },
        },
    })
    .to_string()
}
