//! Carries out recoveries (contract 15.2): one step of each running recovery in turn, until none runs.
//!
//! Everything that a step must know is in the database, so a restart or a kill loses nothing: the next round
//! continues where the last committed step ended. Several instances may work on the same recoveries; a step that
//! another instance has already taken writes nothing. While the endpoints have enough due deliveries, the rounds
//! come less and less often.
//!
//! How many deliveries are enough follows from the endpoint's speed: as many are due at a time as it takes in a
//! second. So a quick receiver catches up as fast as it can, and a fresh event waits behind a second's work at most.

use std::collections::BTreeMap;
use std::time::Duration;

use authority_domain::{RecoveryId, Result};
use tokio::sync::watch;

use super::goes_on;
use crate::app::App;
use crate::app::delivery::recovery_steps::{Advanced, DUE};

/// The pause after a round in which something was done: other writes come first.
const BUSY: Duration = Duration::from_millis(10);

/// The first wait while endpoints have enough due deliveries; doubled up to [`IDLE`].
const WAITING: Duration = Duration::from_millis(40);

/// The pause between looks for new recoveries.
const IDLE: Duration = Duration::from_secs(1);

/// Recoveries that are read at a time.
const BATCH: i64 = 50;

/// The result of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Round {
    Nothing,
    Waits,
    Worked,
}

/// How fast the endpoint of a recovery takes its deliveries.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// The most deliveries that may be due: as many as it recently took in a second.
    most_due: i64,
    /// When deliveries were last made, on the process's own clock.
    stepped_at: Option<Duration>,
}

impl Pace {
    fn new() -> Self {
        Self { most_due: *DUE.start(), stepped_at: None }
    }

    /// `made` deliveries were made now: about as many as the receiver has taken since the last step.
    fn step(&mut self, made: i64, now: Duration) {
        let Some(before) = self.stepped_at.replace(now) else { return };
        let took_ms = i64::try_from(now.saturating_sub(before).as_millis()).unwrap_or(i64::MAX).max(1);
        let in_a_second = made.saturating_mul(1_000) / took_ms;
        // At most twice as much at a time: a single quick answer says little.
        self.most_due = in_a_second.min(self.most_due * 2).clamp(*DUE.start(), *DUE.end());
    }
}

/// Works until `stop` turns true.
pub async fn carry_out_recoveries(app: App, mut stop: watch::Receiver<bool>) {
    let mut wait = WAITING;
    let mut paces = BTreeMap::new();
    let mut pause = Duration::ZERO;
    while goes_on(&mut stop, pause).await {
        pause = match round(&app, &stop, &mut paces).await {
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
    }
}

async fn round(
    app: &App,
    stop: &watch::Receiver<bool>,
    paces: &mut BTreeMap<RecoveryId, Pace>,
) -> Result<Round> {
    let mut running = BTreeMap::new();
    let mut came_to = Round::Nothing;
    let mut last = None;
    loop {
        let batch = app.recoveries_running(last.as_ref(), BATCH).await?;
        last = batch.last().map(|job| job.recovery.clone());
        if last.is_none() {
            // Forgets recoveries that have ended.
            *paces = running;
            return Ok(came_to);
        }
        for job in batch {
            if *stop.borrow() {
                return Ok(came_to);
            }
            let id = job.recovery.id.clone();
            let mut pace = paces.get(&id).copied().unwrap_or_else(Pace::new);
            came_to = came_to.max(match app.recovery_advance(job, pace.most_due).await {
                Ok(Advanced::Worked(made)) => {
                    if made > 0 {
                        pace.step(made, app.clock.monotonic());
                    }
                    Round::Worked
                }
                Ok(Advanced::Waits | Advanced::Elsewhere) => Round::Waits,
                Err(error) => {
                    // A recovery that cannot continue does not stop the others.
                    tracing::warn!(recovery = %id, %error, "a recovery could not go on; it is tried again");
                    Round::Waits
                }
            });
            running.insert(id, pace);
        }
    }
}
