//! Verifies deliveries one by one, so that a tool can count what each verdict takes: `tests/constant_time.rs` runs this
//! under valgrind.
//!
//! The deliveries come in groups. In a group all is alike but one candidate of the signature header: it holds, or
//! differs in one of its digits (64 by the service's headers, 44 by those of Standard Webhooks), or in all. Beside it
//! stands in most groups a candidate that holds, so that every delivery of the group has the same verdict and the same
//! way behind the comparison; what may differ is the comparison alone.
//!
//! Each verdict is a line of standard output: the group, and the word.

use std::hint::black_box;

use verify_core::{Headers, Profile, Secret, Tolerance, VerificationCode, Verifier, sign, standard_webhooks};

const BODY: &[u8] = br#"{"id":"evt_1","type":"webhook.test","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","merchant":{"id":"mer_1","slug":"a"},"data":{"object":{}}}"#;
const TIMESTAMP: &str = "1788264000";
const NOW: i64 = 1_788_264_000;

/// The candidates of a header, from one that holds and the one that is tried.
type Candidates = for<'c> fn(&'c str, &'c str) -> Vec<&'c str>;

/// How the candidates of a group stand in the header.
const ORDERS: [(&str, Candidates); 4] = [
    ("behind one that holds", |good, probe| vec![good, probe]),
    ("before one that holds", |good, probe| vec![probe, good]),
    ("between two that hold", |good, probe| vec![good, probe, good]),
    ("alone and wrong", |_, probe| vec![probe]),
];

fn main() {
    let short = "whsec_a".to_owned();
    let long = format!("whsec_{}", "b".repeat(200));
    for trusted in [vec![&short], vec![&long], vec![&short, &long], vec![&long, &short]] {
        groups(Profile::Service, &trusted);
    }
    let (short, long) = ("whsec_AA==".to_owned(), format!("whsec_{}", "b".repeat(200)));
    for trusted in [vec![&short], vec![&short, &long]] {
        groups(Profile::StandardWebhooks, &trusted);
    }
}

/// Every group of a receiver that trusts these secrets.
fn groups(profile: Profile, trusted: &[&String]) {
    let Ok(verifier) = Verifier::for_profile(profile, trusted, Tolerance::DEFAULT) else { return };
    for signer in trusted {
        let Some(good) = candidate(profile, signer) else { continue };
        for (order, candidates) in ORDERS {
            let lengths = trusted.iter().map(|secret| secret.len());
            let lengths = lengths.collect::<Vec<_>>();
            let group = format!("{}, {lengths:?} trusted, {} signs, {order}", profile.as_str(), signer.len());
            let probes = probes(&good);
            // Alone, the one that holds would have another verdict.
            for probe in probes.iter().skip(usize::from(order == "alone and wrong")) {
                let header = candidates(&good, probe).join(separator(profile));
                let word = judge_once(&verifier, header.as_bytes());
                println!("{group}: {word}");
            }
        }
    }
}

/// What a header has for this secret.
fn candidate(profile: Profile, text: &str) -> Option<String> {
    let secret = Secret::parse_for(profile, text).ok()?;
    match profile {
        Profile::Service => Some(sign::signature_header([&secret], TIMESTAMP, BODY)),
        Profile::StandardWebhooks => {
            let digits = secret.sign_standard(b"evt_1", TIMESTAMP.as_bytes(), BODY);
            Some(format!("{}{}", standard_webhooks::SCHEME, String::from_utf8_lossy(&digits)))
        }
    }
}

/// What stands between two candidates.
fn separator(profile: Profile) -> &'static str {
    match profile {
        Profile::Service => ",",
        Profile::StandardWebhooks => " ",
    }
}

/// The candidate that holds, then each that differs from it in one digit, then one that differs in all.
fn probes(good: &str) -> Vec<String> {
    let altered = |change: &dyn Fn(usize) -> bool| {
        // Both profiles write three characters first.
        let (scheme, digits) = good.split_at(sign::SCHEME.len());
        let digits = digits.chars().enumerate();
        let other = |digit| if digit == '0' { '1' } else { '0' };
        let digits: String =
            digits.map(|(at, digit)| if change(at) { other(digit) } else { digit }).collect();
        format!("{scheme}{digits}")
    };
    let mut probes = vec![altered(&|_| false)];
    let digits = good.len() - sign::SCHEME.len();
    probes.extend((0..digits).map(|wrong| altered(&|at| at == wrong)));
    probes.push(altered(&|_| true));
    probes
}

/// What is counted. Its name is known to the test.
#[inline(never)]
fn judge_once(verifier: &Verifier, signature: &[u8]) -> &'static str {
    let headers = Headers {
        timestamp: Some(TIMESTAMP.as_bytes()),
        signature: Some(black_box(signature)),
        event_id: Some(b"evt_1"),
    };
    black_box(verifier).verify(Some(BODY), &headers, NOW).map_or_else(VerificationCode::as_str, |_| "ok")
}
