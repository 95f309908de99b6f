//! Verifies deliveries one by one, so that a tool can count what each verdict takes: `tests/constant_time.rs` runs this
//! under valgrind.
//!
//! The deliveries come in groups. In a group all is alike but one candidate of the signature header: it holds, or
//! differs in one of its 64 digits, or in all. Beside it stands in most groups a candidate that holds, so that every
//! delivery of the group has the same verdict and the same way behind the comparison; what may differ is the
//! comparison alone.
//!
//! Each verdict is a line of standard output: the group, and the word.

use std::hint::black_box;

use verify_core::{Headers, Secret, Tolerance, VerificationCode, Verifier, sign};

const BODY: &[u8] = br#"{"id":"evt_1","type":"webhook.test","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","merchant":{"id":"mer_1","slug":"a"},"data":{"object":{}}}"#;
const TIMESTAMP: &str = "1788264000";
const NOW: i64 = 1_788_264_000;

/// Writes a header with a candidate that holds and the one that is tried.
type Header = fn(&str, &str) -> String;

/// How the candidates of a group stand in the header.
const ORDERS: [(&str, Header); 4] = [
    ("behind one that holds", |good, probe| format!("{good},{probe}")),
    ("before one that holds", |good, probe| format!("{probe},{good}")),
    ("between two that hold", |good, probe| format!("{good},{probe},{good}")),
    ("alone and wrong", |_, probe| probe.to_owned()),
];

fn main() {
    let short = "whsec_a".to_owned();
    let long = format!("whsec_{}", "b".repeat(200));
    for trusted in [vec![&short], vec![&long], vec![&short, &long], vec![&long, &short]] {
        let Ok(verifier) = Verifier::new(&trusted, Tolerance::DEFAULT) else { continue };
        for signer in &trusted {
            let Ok(secret) = Secret::parse(signer) else { continue };
            let good = sign::signature_header([&secret], TIMESTAMP, BODY);
            for (order, header) in ORDERS {
                let lengths = trusted.iter().map(|secret| secret.len());
                let group =
                    format!("{:?} trusted, {} signs, {order}", lengths.collect::<Vec<_>>(), signer.len());
                let probes = probes(&good);
                // Alone, the one that holds would have another verdict.
                for probe in probes.iter().skip(usize::from(order == "alone and wrong")) {
                    let word = judge_once(&verifier, header(&good, probe).as_bytes());
                    println!("{group}: {word}");
                }
            }
        }
    }
}

/// The candidate that holds, then each that differs from it in one digit, then one that differs in all.
fn probes(good: &str) -> Vec<String> {
    let altered = |change: &dyn Fn(usize) -> bool| {
        let (scheme, digits) = good.split_at(sign::SCHEME.len());
        let digits = digits.chars().enumerate();
        let other = |digit| if digit == '0' { '1' } else { '0' };
        let digits: String =
            digits.map(|(at, digit)| if change(at) { other(digit) } else { digit }).collect();
        format!("{scheme}{digits}")
    };
    let mut probes = vec![altered(&|_| false)];
    probes.extend((0..64).map(|wrong| altered(&|at| at == wrong)));
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
