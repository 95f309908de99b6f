//! Writes the events of shares that ended with their connection, until none is left
//! ([`crate::app::partner::share_ends`]).
//!
//! The remaining work is in the database, so a restart or a kill loses nothing. Several instances may do this side
//! by side: each step takes what it finds in its own transaction. While nothing is left, one look per second finds
//! an empty index.

use std::time::Duration;

use tokio::sync::watch;

use super::goes_on;
use crate::app::App;

/// The pause between steps: other writes come first.
const BUSY: Duration = Duration::from_millis(10);

/// The pause between looks while nothing is left.
const IDLE: Duration = Duration::from_secs(1);

/// Works until `stop` turns true.
pub async fn tell_of_ended_shares(app: App, mut stop: watch::Receiver<bool>) {
    let mut pause = Duration::ZERO;
    while goes_on(&mut stop, pause).await {
        pause = match app.end_shares_step().await {
            Ok(true) => BUSY,
            Ok(false) => IDLE,
            Err(error) => {
                tracing::warn!(%error, "shares that ended could not be told of; it is tried again");
                IDLE
            }
        };
    }
}
