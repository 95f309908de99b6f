//! The rules of verification a second time: slow, obvious, and by other means than `verify-core`.
//!
//! Tests, fuzz targets and the differential test give the same input to both and want the same verdict. Where
//! `verify-core` scans bytes, this crate builds a tree with `serde_json` and asks regular expressions; where it
//! keeps prepared key states, this crate writes HMAC down as RFC 2104 has it. It depends on nothing of ours, so a
//! mistake in the core cannot be in here by inheritance.
//!
//! Nothing that is shipped uses it.

/// A pattern of this crate under a name, compiled when it is first asked.
macro_rules! pattern {
    ($name:ident = $pattern:literal) => {
        static $name: std::sync::LazyLock<regex::bytes::Regex> =
            std::sync::LazyLock::new(|| crate::compiled($pattern));
    };
}

#[expect(clippy::expect_used, reason = "the patterns are constants, and every one is used by a test")]
fn compiled(pattern: &str) -> regex::bytes::Regex {
    regex::bytes::Regex::new(pattern).expect("a pattern of this crate")
}

pub mod delivery;
pub mod event;
mod tree;

pub use delivery::Delivery;
pub use tree::Node;
