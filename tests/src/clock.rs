//! The time, for what stands outside the product: a receiver's own clock, and dates that a client gives.

use std::time::SystemTime;

/// Now, in Unix milliseconds.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the outermost place: nobody hands a time to a test")]
pub fn now_ms() -> i64 {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    i64::try_from(since_epoch.as_millis()).unwrap()
}
