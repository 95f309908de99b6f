//! What runs beside the listeners and the dispatcher: rounds that are repeated until the service stops.
//!
//! [`Tasks`] starts each under its name, and waits for all of them when the service stops; a panic in one ends the
//! process ([`authority_store::supervisor`]). Each repeats its round while `goes_on` says so. What a round leaves
//! undone is in the database: the next round, the next start or another instance finds it there. Deliberately absent:
//! the dispatcher's own loops, which wait for more than time.

mod endpoint_upkeep;
pub mod housekeeping;
pub mod instances;
pub mod key_use;
pub mod recovery_worker;
pub mod retention;
pub mod scheduler;
pub mod share_worker;

use std::time::Duration;

use authority_store::supervisor::Supervisor;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The tasks that are running.
#[derive(Debug)]
pub struct Tasks {
    running: Vec<JoinHandle<Option<()>>>,
    supervisor: Supervisor,
}

impl Tasks {
    /// None yet.
    #[must_use]
    pub fn of(supervisor: Supervisor) -> Self {
        Self { running: Vec::new(), supervisor }
    }

    /// Starts one, which ends by itself when the service stops.
    pub fn spawn(&mut self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        self.running.push(self.supervisor.spawn(name, task));
    }

    /// Waits for the end of all of them.
    pub async fn ended(self) {
        for task in self.running {
            let _ = task.await;
        }
    }
}

/// Waits for the next round: false when `stop` has turned true or its sender is gone.
pub(crate) async fn goes_on(stop: &mut watch::Receiver<bool>, pause: Duration) -> bool {
    if *stop.borrow() {
        return false;
    }
    if !pause.is_zero() {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            // A dropped sender means that the service is gone.
            _ = stop.wait_for(|stop| *stop) => return false,
        }
    }
    true
}
