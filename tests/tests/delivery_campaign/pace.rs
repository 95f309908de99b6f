//! The rhythm of load, harm and slow receivers: how long what happens takes, and how much lies between. Nothing is
//! judged by it, and no check waits for time to pass.

use std::time::Duration;

/// Ready after so many milliseconds, at least 1.
pub(crate) async fn after_ms(ms: u64) {
    let mut rhythm = tokio::time::interval(Duration::from_millis(ms.max(1)));
    // The first tick is at once.
    rhythm.tick().await;
    rhythm.tick().await;
}
