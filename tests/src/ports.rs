//! Ports for programs that cannot be asked which one they got.
//!
//! A program that listens at port 0 and says where is better. One that cannot, or that comes back at the same port,
//! gets a number here that the system hands to nobody: other tests open thousands of connections meanwhile, and each
//! of them takes a port of the system's range.

use std::net::TcpListener;

use rand::RngExt as _;

/// Below the range that the kernel hands out (32,768 to 60,999 on Linux), and above the known services.
const RANGE: std::ops::Range<u16> = 12_000..32_000;

/// A loopback port that is free, drawn by lot.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "which port it is decides nothing that a test is about")]
pub fn unclaimed() -> u16 {
    let mut dice = rand::rng();
    std::iter::repeat_with(|| dice.random_range(RANGE))
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .unwrap()
}
