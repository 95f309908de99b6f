//! Writes deliveries with their native verdicts, one JSON object per line, for other platforms to try.
//!
//! Delivery `n` of a seed is made of random bytes that depend on the seed and `n` alone. A verdict that differs from
//! the slow reference's ends the program, with the seed and the number that show it again.
//!
//! A line says what a receiver in JavaScript is given (`body`, `lines`, `secrets`, `tolerance`, `now`), the verdict
//! it must reach (`expect`), and for a valid delivery the envelope it must read (`fields`).

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use arbitrary::{Arbitrary as _, Unstructured};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use clap::Parser;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use verify_core::Envelope;
use verify_hardening::{Body, Delivery};

/// Bytes that one delivery may be made of. When they run out, the first of everything is chosen.
const BYTES: usize = 2_048;

/// Writes deliveries to standard output.
#[derive(Parser)]
struct Arguments {
    /// How many.
    #[arg(long, default_value_t = 2_000)]
    count: u64,
    /// What they are made of.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    match write(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(Arguments { count, seed }: &Arguments) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut bytes = vec![0; BYTES];
    for number in 0..*count {
        let mut seed_bytes = [0; 32];
        let words = seed.to_le_bytes().into_iter().chain(number.to_le_bytes());
        seed_bytes.iter_mut().zip(words).for_each(|(to, from)| *to = from);
        StdRng::from_seed(seed_bytes).fill(bytes.as_mut_slice());
        let delivery = Delivery::arbitrary(&mut Unstructured::new(&bytes)).map_err(io::Error::other)?;
        let line = line(&delivery).map_err(|message| {
            io::Error::other(format!("{message}; again with --seed {seed}, delivery {number}"))
        })?;
        writeln!(out, "{line}")?;
    }
    out.flush()
}

fn line(delivery: &Delivery) -> Result<Value, String> {
    let joined = delivery.joined();
    let verdict = delivery.verdict(&joined);
    let reference = delivery.reference(&joined);
    if verdict != reference {
        return Err(format!("verify-core says {verdict}, the reference {reference}: {delivery:?}"));
    }
    let fields =
        delivery.judge(&joined, |verdict| verdict.and_then(Result::ok).map(|envelope| fields(&envelope)));
    let body = match &delivery.body {
        Body::Absent => Value::Null,
        Body::Bytes(bytes) => json!({ "bytes": BASE64_STANDARD.encode(bytes) }),
        Body::Text(units) => {
            let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            json!({ "utf16": BASE64_STANDARD.encode(bytes) })
        }
    };
    Ok(json!({
        "body": body,
        "lines": {
            "service-timestamp": delivery.timestamp,
            "service-signature": delivery.signature,
            "service-event-id": delivery.event_id,
        },
        "secrets": delivery.secrets,
        "tolerance": delivery.tolerance,
        "now": delivery.now_ms,
        "expect": verdict,
        "fields": fields,
    }))
}

fn fields(envelope: &Envelope<'_>) -> Value {
    json!({
        "id": envelope.id,
        "type": envelope.event_type,
        "apiVersion": envelope.api_version,
        "createdAt": envelope.created_at,
        "sequence": envelope.sequence,
        "resourceVersion": envelope.resource_version,
        "livemode": envelope.livemode,
        "merchant": { "id": envelope.merchant_id, "slug": envelope.merchant_slug },
    })
}
