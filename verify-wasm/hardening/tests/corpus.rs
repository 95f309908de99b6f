//! The seed corpus through the fuzz targets, without a fuzzer: every seed, cut off at every place, and with every one
//! of its bytes changed. What a fuzzer finds is kept as a seed, so that it stays mended.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use verify_hardening::targets;

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
