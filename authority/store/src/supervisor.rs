//! Watches over the tasks that a process cannot do without: the workers of the writer, and what the service starts the
//! same way.
//!
//! A panic in a job or in a request is caught where it happens and answered. One in the task around them leaves nobody
//! who does its work: writes would wait for ever, or outcomes would not be recorded. The supervisor tells whoever asks
//! ([`Supervisor::panicked`]), and the process ends, so that the service manager starts it again. Nothing is lost: what
//! was answered is committed, and leases run out.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Knows whether one of its tasks has panicked. Clones share what they know.
#[derive(Clone, Debug, Default)]
pub struct Supervisor(watch::Sender<Option<&'static str>>);

impl Supervisor {
    /// Starts a task under its name. It returns what the task returned; `None` after a panic.
    pub fn spawn<T: Send + 'static>(
        &self,
        name: &'static str,
        task: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<Option<T>> {
        tokio::spawn(self.clone().watch(name, task))
    }

    /// The same for a task that somebody else starts.
    pub async fn watch<T>(self, name: &'static str, task: impl Future<Output = T>) -> Option<T> {
        let ended = AssertUnwindSafe(task).catch_unwind().await;
        if ended.is_err() {
            tracing::error!(task = name, "a task panicked that the process cannot do without");
            self.0.send_replace(Some(name));
        }
        ended.ok()
    }

    /// Resolves to the name of a task that has panicked.
    pub async fn panicked(&self) -> &'static str {
        let mut seen = self.0.subscribe();
        match seen.wait_for(Option::is_some).await.map(|name| *name) {
            Ok(Some(name)) => name,
            // The sender lives in `self`.
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_panics_is_known_by_its_name_and_one_that_ends_is_not() {
        let supervisor = Supervisor::default();
        let ended = supervisor.spawn("ends", async { 7 });
        assert_eq!(ended.await.ok(), Some(Some(7)));
        assert_eq!(supervisor.panicked().now_or_never(), None);
        let asked_before = supervisor.clone();
        let asked_before = tokio::spawn(async move { asked_before.panicked().await });
        let ended = supervisor.spawn("panics", async { panic!("a test panics on purpose") });
        assert_eq!(ended.await.ok(), Some(None::<()>));
        assert_eq!(asked_before.await.ok(), Some("panics"));
        assert_eq!(supervisor.panicked().now_or_never(), Some("panics"));
    }
}
