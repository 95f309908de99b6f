//! Writes when API keys were last used, once a minute (contract 2.11): what requests have noted meanwhile.

use std::time::Duration;

use tokio::sync::watch;

use super::goes_on;
use crate::app::App;

/// `last_used_at` lags by as much.
const ROUND: Duration = Duration::from_secs(60);

/// Writes the noted uses until `stop` turns true.
pub async fn write_key_use(app: App, mut stop: watch::Receiver<bool>) {
    let mut pause = Duration::ZERO;
    while goes_on(&mut stop, pause).await {
        app.flush_key_use().await;
        pause = ROUND;
    }
}
