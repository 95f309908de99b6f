//! Verification natively, 2 KB: the core's signature check and its whole contract beside the HMAC alone of other
//! libraries.
//!
//! The sides take turns, batch by batch, in one thread; CPU time is taken and medians are printed, and the ratios are
//! those of single rounds. Keys are prepared before; a round of a library is one HMAC-SHA256 over `timestamp.body` and
//! its comparison. The body is an event as the authority renders it, an order with its lines.

use std::hint::black_box;

use aws_lc_rs::hmac as aws;
use openssl::hash::MessageDigest;
use openssl::memcmp;
use openssl::pkey::PKey;
use openssl::sign::Signer;
use ring::hmac as ring_hmac;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use verify_core::secret::Secret;
use verify_core::sign::SCHEME;
use verify_core::{Headers, Tolerance, Verifier};

const SECRET: &str = concat!("whsec_", "benchmark0benchmark0benchmark0benchmark0");
const TIMESTAMP: &[u8] = b"1788264000";
const NOW: i64 = 1_788_264_000;
const EVENT_ID: &str = "evt_01k4m2v7q8r9s0t1v2w3x4y5z6";
const BODY_BYTES: usize = 2048;
const ROUNDS: usize = 61;
const CALLS: u32 = 4000;

/// The signature check may take so many times the fastest HMAC alone; the whole contract so many.
const SIGNATURE_GOAL: f64 = 1.15;
const CONTRACT_GOAL: f64 = 2.0;

type Side = (&'static str, Box<dyn FnMut() -> bool>);

fn main() {
    let body = body();
    let mut sides = [ours(&body), libraries(&body)].into_iter().flatten().collect::<Vec<_>>();
    let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); sides.len()];
    for round in 0..=ROUNDS {
        for (figures, (name, side)) in rounds.iter_mut().zip(&mut sides) {
            let nanoseconds = measure(name, side);
            // The first round warms up.
            if round > 0 {
                figures.push(nanoseconds);
            }
        }
    }
    println!("\nNative, {} bytes, CPU µs, medians of {ROUNDS} rounds of {CALLS}:\n", body.len());
    println!("| | µs |\n|---|---:|");
    for ((name, _), figures) in sides.iter().zip(&rounds) {
        println!("| {name} | {:.2} |", median(figures) / 1000.0);
    }
    let (own, libraries) = rounds.split_at(2);
    let fastest = libraries.iter().min_by(|left, right| median(left).total_cmp(&median(right)));
    for ((what, goal), figures) in
        [("signature check", SIGNATURE_GOAL), ("whole contract", CONTRACT_GOAL)].into_iter().zip(own)
    {
        let ratios: Vec<_> =
            figures.iter().zip(fastest.into_iter().flatten()).map(|(own, other)| own / other).collect();
        let ratio = median(&ratios);
        let verdict = if ratio <= goal { "reached" } else { "MISSED" };
        println!("\n{what} : the fastest HMAC alone: {ratio:.2} (at most {goal}) {verdict}");
    }
}

/// CPU nanoseconds of one call.
fn measure(name: &str, side: &mut dyn FnMut() -> bool) -> f64 {
    let before = clock_gettime(ClockId::ThreadCPUTime);
    for _ in 0..CALLS {
        assert!(side(), "{name} does not verify");
    }
    let after = clock_gettime(ClockId::ThreadCPUTime);
    let nanoseconds = (after.tv_sec - before.tv_sec) * 1_000_000_000 + (after.tv_nsec - before.tv_nsec);
    nanoseconds as f64 / f64::from(CALLS)
}

fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn ours(body: &[u8]) -> Vec<Side> {
    let verifier = Verifier::new(&[SECRET], Tolerance::DEFAULT).unwrap_or_else(|error| panic!("{error}"));
    let secret = Secret::parse(SECRET).unwrap_or_else(|error| panic!("{error}"));
    let expected = secret.sign(TIMESTAMP, body);
    let header = [SCHEME.as_bytes(), &expected].concat();
    let (signed, whole) = (body.to_vec(), body.to_vec());
    let check = move || {
        let headers = Headers { timestamp: Some(TIMESTAMP), signature: Some(&header), event_id: None };
        verify_core::Claim::check(Some(black_box(&signed)), &headers, true, Tolerance::DEFAULT, NOW)
            .and_then(|claim| claim.check_signature([claim.sign(&secret)]))
            .is_ok()
    };
    let header = [SCHEME.as_bytes(), &expected].concat();
    let contract = move || {
        let event_id = Some(EVENT_ID.as_bytes());
        let headers = Headers { timestamp: Some(TIMESTAMP), signature: Some(&header), event_id };
        black_box(verifier.verify(Some(black_box(&whole)), &headers, NOW)).is_ok()
    };
    vec![
        ("verify-core, headers and signature", Box::new(check)),
        ("verify-core, the whole contract", Box::new(contract)),
    ]
}

/// HMAC-SHA256 and comparison, as each library offers it.
fn libraries(body: &[u8]) -> Vec<Side> {
    let message = [TIMESTAMP, b".", body].concat();
    let key = ring_hmac::Key::new(ring_hmac::HMAC_SHA256, SECRET.as_bytes());
    let expected = ring_hmac::sign(&key, &message).as_ref().to_vec();
    let aws_key = aws::Key::new(aws::HMAC_SHA256, SECRET.as_bytes());
    let openssl_key = PKey::hmac(SECRET.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let (for_ring, for_aws, for_openssl) = (message.clone(), message.clone(), message);
    let (tag_ring, tag_aws, tag_openssl) = (expected.clone(), expected.clone(), expected);
    vec![
        ("ring", Box::new(move || ring_hmac::verify(&key, black_box(&for_ring), &tag_ring).is_ok())),
        ("aws-lc-rs", Box::new(move || aws::verify(&aws_key, black_box(&for_aws), &tag_aws).is_ok())),
        (
            "openssl",
            Box::new(move || {
                let signed = Signer::new(MessageDigest::sha256(), &openssl_key)
                    .and_then(|mut signer| signer.sign_oneshot_to_vec(black_box(&for_openssl)));
                signed.is_ok_and(|tag| tag.len() == tag_openssl.len() && memcmp::eq(&tag, &tag_openssl))
            }),
        ),
    ]
}

/// An order that fills the body up to a note of words.
fn body() -> Vec<u8> {
    let mut lines = Vec::new();
    while event(&lines, "").len() + line(lines.len()).to_string().len() < BODY_BYTES {
        lines.push(line(lines.len()));
    }
    let missing = BODY_BYTES.saturating_sub(event(&lines, "").len());
    let note: String =
        "please ring twice and leave it with the neighbours ".chars().cycle().take(missing).collect();
    event(&lines, &note).into_bytes()
}

fn line(index: usize) -> Value {
    json!({
        "id": format!("li_01k4m2v7q8r9s0t1v2w3x4y{index:03}"),
        "sku": format!("SKU-{}", 1000 + index * 37),
        "name": "Blue enamel mug, 0.4 l",
        "quantity": 1 + index % 3,
        "unit_amount": 990 + index * 79,
        "total_amount": (1 + index % 3) * (990 + index * 79),
        "fulfilled_quantity": 0,
        "requires_shipping": true,
    })
}

fn event(lines: &[Value], note: &str) -> String {
    json!({
        "id": EVENT_ID,
        "type": "order.confirmed",
        "api_version": "2026-09-01",
        "created_at": "2026-09-01T12:00:00.000Z",
        "sequence": 42,
        "resource_version": 3,
        "livemode": true,
        "merchant": { "id": "mer_01k4m2v7q8r9s0t1v2w3x4y5z6", "slug": "demo" },
        "data": { "object": {
            "object": "order", "order_number": "ORD-1042", "status": "confirmed", "payment_status": "paid",
            "currency": "EUR", "line_items": lines, "customer": { "name": "Rosa Miller", "phone": null },
            "fulfillment_note": note, "placed_at": "2026-09-01T11:59:41.120Z", "metadata": { "channel": "web" },
        } },
        "links": { "resource": "/v1/merchant/orders/1042" },
    })
    .to_string()
}
