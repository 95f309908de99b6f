//! `authority sign`: prints the signature header for a body on standard input, to test a receiver.
//!
//! It signs like a delivery (contract 7.1): one `v1=` for each secret, newest first. Deliberately absent: any check of
//! the body, so that a receiver can also be tested with bodies that it must refuse.

use std::ffi::OsStr;

use verify_core::{Secret, sign};

use super::args;
use super::secrets::{self, NamedSecret};
use super::{Exit, Failure, Process};

pub(super) fn run(args: args::Sign, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let timestamp = timestamp(&args.timestamp)?;
    let secrets = secrets::from_environment("--secret-env", args.secret_env, process.environment)?;
    let secrets = secrets.iter().map(usable).collect::<Result<Vec<Secret>, Failure>>()?;
    let mut body = Vec::new();
    process.stdin.read_to_end(&mut body)?;
    let signature = sign::signature_header(&secrets, timestamp, &body);
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

fn usable(secret: &NamedSecret) -> Result<Secret, Failure> {
    Secret::parse(&secret.text).map_err(|_| {
        Failure::Usage(format!("{} does not hold a usable signing secret (whsec_…)", secret.variable))
    })
}
