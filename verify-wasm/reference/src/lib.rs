//! The rules of verification a second time: slow, obvious, and by other means than `verify-core`.
//!
//! Tests, fuzz targets and the differential test give the same input to both and want the same verdict. Where
//! `verify-core` scans bytes, this crate builds a tree with `serde_json` and asks regular expressions; where it
//! keeps prepared key states, this crate writes HMAC down as RFC 2104 has it. It depends on nothing of ours, so a
//! mistake in the core cannot be in here by inheritance.
//!
//! Nothing that is shipped uses it.

pub mod delivery;
pub mod event;
mod tree;

pub use delivery::Delivery;
pub use tree::Node;

use regex::Regex;
use regex::bytes;

/// Compiles a pattern of this crate.
#[expect(clippy::expect_used, reason = "the patterns are constants, and every one is used by a test")]
fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this crate")
}

/// Compiles a pattern for bytes that need not be text.
#[expect(clippy::expect_used, reason = "as above")]
fn bytes_pattern(pattern: &str) -> bytes::Regex {
    bytes::Regex::new(pattern).expect("a pattern of this crate")
}
