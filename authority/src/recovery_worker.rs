//! Carries recoveries out (contract 15.2): a step of each running one in turn, until none runs.
//!
//! Everything that a step must know is in the database, so a restart or a kill costs nothing: the next round goes on
//! where the last committed step ended. Several instances may work on the same recoveries; a step that somebody else
//! has taken writes nothing. While the endpoint has enough to do, a recovery is asked less and less often.

use std::time::Duration;

use authority_domain::refusal::Refusal;
use tokio::sync::watch;

use crate::app::App;
use crate::app::recoveries::Advanced;

/// Between rounds in which something was done: others' writes come first.
const BUSY: Duration = Duration::from_millis(10);

/// The first wait while endpoints have enough to do; doubled up to [`IDLE`].
const WAITING: Duration = Duration::from_millis(40);

/// Between looks for new recoveries.
const IDLE: Duration = Duration::from_secs(1);

/// Recoveries that are read at a time.
const BATCH: i64 = 50;

/// What a round came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Round {
    Nothing,
    Waits,
    Worked,
}

/// Works until `stop` turns true.
pub async fn carry_out_recoveries(app: App, mut stop: watch::Receiver<bool>) {
    let mut wait = WAITING;
    while !*stop.borrow() {
        let pause = match round(&app, &stop).await {
            Ok(Round::Worked) => {
                wait = WAITING;
                BUSY
            }
            Ok(Round::Waits) => {
                let pause = wait;
                wait = (wait * 2).min(IDLE);
                pause
            }
            Ok(Round::Nothing) => IDLE,
            Err(error) => {
                tracing::warn!(%error, "a recovery could not go on; it is tried again");
                IDLE
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            changed = stop.changed() => if changed.is_err() { break },
        }
    }
}

async fn round(app: &App, stop: &watch::Receiver<bool>) -> Result<Round, Refusal> {
    let mut came_to = Round::Nothing;
    let mut last = None;
    loop {
        let batch = app.recoveries_running(last.as_ref(), BATCH).await?;
        last = batch.last().map(|job| job.recovery.clone());
        if last.is_none() {
            return Ok(came_to);
        }
        for job in batch {
            if *stop.borrow() {
                return Ok(came_to);
            }
            let id = job.recovery.id.clone();
            came_to = came_to.max(match app.recovery_advance(job).await {
                Ok(Advanced::Worked) => Round::Worked,
                Ok(Advanced::Waits | Advanced::Elsewhere) => Round::Waits,
                Err(error) => {
                    // One that cannot go on keeps no other from it.
                    tracing::warn!(recovery = %id, %error, "a recovery could not go on; it is tried again");
                    Round::Waits
                }
            });
        }
    }
}
