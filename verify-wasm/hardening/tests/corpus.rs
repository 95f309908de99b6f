//! The fuzz targets without a fuzzer: over the seed corpus (every seed, cut off at every place, and with every one of
//! its bytes changed), and the reader of events over what seeded dice make. What a fuzzer finds is kept as a seed, so
//! that it stays mended.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use arbitrary::{Arbitrary as _, Unstructured};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use verify_core::event;
use verify_hardening::{Delivery, targets};

fn seeds(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(target);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

/// Runs one target over what can be made of its seeds. `step` is the distance between the places that are changed.
fn replay(target: &str, run: fn(&[u8]), step: usize) {
    let seeds = seeds(target);
    assert!(seeds.len() >= 8, "{target} has {} seeds", seeds.len());
    let mut inputs = 0;
    for (path, seed) in seeds {
        // Said before it is run: when a seed breaks the target, its name is the last line.
        println!("{}", path.display());
        run(&seed);
        for at in (0..seed.len()).step_by(step) {
            run(seed.get(..at).unwrap());
            let mut altered = seed.clone();
            *altered.get_mut(at).unwrap() ^= 1 << (at % 8);
            run(&altered);
            inputs += 2;
        }
    }
    println!("{target}: {inputs} inputs");
}

#[test]
fn headers() {
    replay("headers", targets::headers, 1);
}

#[test]
fn secrets() {
    replay("secrets", targets::secrets, 7);
}

#[test]
fn json() {
    replay("json", targets::json, 5);
}

#[test]
fn verify() {
    replay("verify", targets::verify, 3);
}

#[test]
fn explain() {
    replay("explain", targets::explain, 41);
}

#[test]
fn events_that_are_nearly_right_get_the_references_verdict() {
    let (mut dice, mut bytes) = (StdRng::seed_from_u64(1), [0; 2_048]);
    let mut seen = BTreeMap::<&str, u32>::new();
    for _ in 0..24_000 {
        dice.fill(&mut bytes);
        let delivery = Delivery::arbitrary(&mut Unstructured::new(&bytes)).unwrap();
        let text = delivery.body.bytes().unwrap_or_default();
        targets::json(&text);
        let verdict = event::read(&text).map_or_else(|code| code.as_str(), |_| "ok");
        *seen.entry(verdict).or_default() += 1;
    }
    // The changes must reach every verdict, or the comparison proves little.
    assert_eq!(seen.len(), 9, "{seen:?}");
    assert!(seen.values().all(|count| *count >= 20), "{seen:?}");
}

#[test]
fn soups_of_pieces_and_arbitrary_bytes_get_the_references_verdict() {
    let (mut dice, seeds) = (StdRng::seed_from_u64(1), seeds("json"));
    for _ in 0..5_000 {
        let mut soup = Vec::new();
        for _ in 0..dice.random_range(0..24) {
            let (_, seed) = seeds.get(dice.random_range(0..seeds.len())).unwrap();
            let from = dice.random_range(0..=seed.len());
            soup.extend(seed.iter().skip(from).take(dice.random_range(1..12)));
        }
        targets::json(&soup);
        let mut noise = vec![0; dice.random_range(0..40)];
        dice.fill(noise.as_mut_slice());
        targets::json(&noise);
    }
}
