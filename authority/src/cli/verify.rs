//! `authority verify`: verifies a delivery as a receiver would, with the same core (contract 10).
//!
//! The options give the header values, standard input gives the body. A header whose option is left out counts as
//! absent. The command prints `ok` or the code of contract 10.2 and exits with 0 or 1. A secret that is set but
//! unusable gives the code `invalid_secret`; a variable that is not set at all is wrong usage.
//!
//! `--profile` says whose headers the values are from (contract 15.12). With `--explain`, for the default one, the
//! likely causes follow a refusal. They change neither the code nor the exit code.

use std::ffi::OsString;

use serde_json::{Map, Value, json};
use verify_core::verify::MAX_SECRETS;
use verify_core::{Envelope, Headers, Profile, Tolerance, VerificationCode, Verifier};
use verify_explain::{Delivery, Finding, Trust};

use super::secrets::{self, NamedSecret};
use super::{Exit, Failure, Process, args, vectors};

pub(super) fn run(args: args::Verify, process: &mut Process<'_>) -> Result<Exit, Failure> {
    if let Some(file) = &args.vectors {
        return vectors::run(file, args.json, process);
    }
    let tolerance = Tolerance::new(args.tolerance)
        .map_err(|_| Failure::Usage("--tolerance must be 1 to 3600 seconds".to_owned()))?;
    let secrets = secrets::from_environment("--secret-env", args.secret_env, process.environment)?;
    let other_secrets =
        secrets::from_environment("--other-secret-env", args.other_secret_env, process.environment)?;
    let (secrets, other_secrets) = (texts(&secrets), texts(&other_secrets));
    if args.explain && args.profile != Profile::Service {
        return Err(Failure::Usage("--explain knows the profile service only".to_owned()));
    }
    let verifier =
        Verifier::for_profile(args.profile, &secrets, tolerance).map_err(|_| too_many("--secret-env"))?;
    let now = args.now.unwrap_or_else(|| process.clock.now_ms().div_euclid(1000));
    let mut body = Vec::new();
    process.stdin.read_to_end(&mut body)?;
    let headers = Headers {
        timestamp: args.timestamp.as_ref().map(bytes),
        signature: args.signature.as_ref().map(bytes),
        event_id: args.event_id.as_ref().map(bytes),
    };
    let verdict = verifier.verify(Some(&body), &headers, now);
    let causes = if args.explain {
        let trust = Trust { secrets: &secrets, other_secrets: &other_secrets, tolerance, now };
        let explanation =
            verify_explain::explain(&Delivery { body: Some(&body), headers, lines: &[] }, &trust)
                .map_err(|_| too_many("--other-secret-env"))?;
        Some(explanation.causes)
    } else {
        None
    };
    if args.json {
        writeln!(process.stdout, "{}", json_line(&verdict, causes.as_deref()))?;
    } else {
        write!(process.stdout, "{}\n{}", code(&verdict), text_of(causes.as_deref().unwrap_or_default()))?;
    }
    Ok(if verdict.is_ok() { Exit::Done } else { Exit::Failed })
}

fn texts(secrets: &[NamedSecret]) -> Vec<&str> {
    secrets.iter().map(|secret| secret.text.as_str()).collect()
}

fn too_many(option: &str) -> Failure {
    Failure::Usage(format!("{option} can be given at most {MAX_SECRETS} times"))
}

fn bytes(argument: &OsString) -> &[u8] {
    argument.as_encoded_bytes()
}

fn code(verdict: &Result<Envelope<'_>, VerificationCode>) -> &'static str {
    match verdict {
        Ok(_) => "ok",
        Err(code) => code.as_str(),
    }
}

/// A paragraph for each cause, numbered when there are several.
pub(super) fn text_of(causes: &[Finding]) -> String {
    let paragraph = |(index, finding): (usize, &Finding)| {
        let number = if causes.len() > 1 { format!("{}. ", index + 1) } else { String::new() };
        let indent = " ".repeat(number.len());
        let Finding { cause, evidence } = finding;
        format!("\n{number}{cause}\n{indent}Seen: {evidence}\n{indent}Do:   {}\n", cause.fix())
    };
    causes.iter().enumerate().map(paragraph).collect()
}

fn json_line(verdict: &Result<Envelope<'_>, VerificationCode>, causes: Option<&[Finding]>) -> String {
    let mut line = Map::from_iter([("code".to_owned(), json!(code(verdict)))]);
    if let Ok(event) = verdict {
        let event = json!({
            "id": event.id,
            "type": event.event_type,
            "api_version": event.api_version,
            "created_at": event.created_at,
            "sequence": event.sequence,
            "resource_version": event.resource_version,
            "livemode": event.livemode,
            "merchant": { "id": event.merchant_id, "slug": event.merchant_slug },
        });
        line.insert("event".to_owned(), event);
    }
    if let Some(causes) = causes {
        line.insert("causes".to_owned(), json_of(causes));
    }
    Value::Object(line).to_string()
}

/// An array with an object for each cause.
pub(super) fn json_of(causes: &[Finding]) -> Value {
    let object = |finding: &Finding| {
        let Finding { cause, evidence } = finding;
        json!({ "cause": cause.as_str(), "evidence": evidence, "fix": cause.fix() })
    };
    causes.iter().map(object).collect()
}
