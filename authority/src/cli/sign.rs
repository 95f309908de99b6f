//! `authority sign`: prints the signature header for a body on standard input, to test a receiver.
//!
//! It signs like a delivery (contract 7.1): one `v1=` for each secret, newest first. With `--profile standard-webhooks`
//! it writes `webhook-signature` (contract 15.12): one `v1,` for each, over the event's id as well. Deliberately
//! absent: any check of the body, so that a receiver can also be tested with bodies that it must refuse.

use std::ffi::OsStr;

use verify_core::{Profile, Secret, sign, standard_webhooks};

use super::args;
use super::secrets::{self, NamedSecret};
use super::{Exit, Failure, Process};

pub(super) fn run(args: args::Sign, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let timestamp = timestamp(&args.timestamp)?;
    let secrets = secrets::from_environment("--secret-env", args.secret_env, process.environment)?;
    let usable = |secret: &NamedSecret| usable(args.profile, secret);
    let secrets = secrets.iter().map(usable).collect::<Result<Vec<Secret>, Failure>>()?;
    let wrong = |text: &str| Err(Failure::Usage(text.to_owned()));
    if args.profile == Profile::Service && args.event_id.is_some() {
        return wrong("--event-id is signed with --profile standard-webhooks only");
    }
    let mut body = Vec::new();
    process.stdin.read_to_end(&mut body)?;
    let signature = match (args.profile, &args.event_id) {
        (Profile::Service, _) => sign::signature_header(&secrets, timestamp, &body),
        (Profile::StandardWebhooks, Some(id)) => {
            standard_webhooks::signature_header(&secrets, id, timestamp, &body)
        }
        (Profile::StandardWebhooks, None) => {
            return wrong("--profile standard-webhooks signs the event's id: give it by --event-id");
        }
    };
    if args.json {
        let line = serde_json::json!({ "timestamp": timestamp, "signature": signature });
        writeln!(process.stdout, "{line}")?;
    } else {
        writeln!(process.stdout, "{signature}")?;
    }
    Ok(Exit::Done)
}

/// Checks the form: every receiver refuses any other before it looks at the signature (contract 10.7).
fn timestamp(text: &OsStr) -> Result<&str, Failure> {
    text.to_str()
        .filter(|text| text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit()))
        .ok_or_else(|| Failure::Usage("--timestamp must be Unix seconds in exactly ten digits".to_owned()))
}

fn usable(profile: Profile, secret: &NamedSecret) -> Result<Secret, Failure> {
    Secret::parse_for(profile, &secret.text).map_err(|_| {
        let form = match profile {
            Profile::Service => "whsec_…",
            Profile::StandardWebhooks => "whsec_ and base64",
        };
        Failure::Usage(format!("{} does not hold a usable signing secret ({form})", secret.variable))
    })
}
