//! Waiting for a condition that nobody announces.
//!
//! Where a part of the product tells of what it did (a ready line, a request to a receiver), a test waits for that.
//! What only shows when it is asked for, a test asks for again and again, with [`eventually`].
//!
//! Absent on purpose: waiting a fixed time, which is too long on a fast machine and too short on a slow one.

use std::fmt::Display;
use std::time::Duration;

/// How long a test waits for anything. Far above what is needed: it only bounds a test that would fail anyway.
pub const DEADLINE: Duration = Duration::from_secs(120);

/// The pause after the first look, and the longest one: each is half as long again as the one before. What comes soon
/// is seen soon, and what takes long does not keep a processor busy with questions.
const PAUSES: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(100)];

/// Asks until there is an answer. `what` names it in the failure.
///
/// # Panics
/// When there is none within [`DEADLINE`].
pub async fn eventually<T>(what: impl Display, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        let [mut pause, longest] = PAUSES;
        let mut ticks = tokio::time::interval(longest);
        loop {
            ticks.tick().await;
            if let Some(answer) = ask().await {
                return answer;
            }
            ticks.reset_after(pause);
            pause = (pause * 3 / 2).min(longest);
        }
    };
    within(what, asking).await
}

/// Waits for `work`. `what` names it in the failure.
///
/// # Panics
/// When it is not done within [`DEADLINE`].
pub async fn within<T>(what: impl Display, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, work)
        .await
        .unwrap_or_else(|_| panic!("{what}: not within {} s", DEADLINE.as_secs()))
}
