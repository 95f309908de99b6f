//! The tasks that run one connection, and their end.
//!
//! hyper's tasks end when nobody wants their connection any more: but first they write what is still to be written, and
//! shut the connection down in order. A receiver that does not read makes both last as long as it likes, and each
//! attempt would leave a socket, its buffers and an unsent body behind. So all that use a connection hold an [`InUse`],
//! and its tasks run as [`WhileUsed`]: once the last holder is gone, a short time is left to them.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hyper::rt::Executor;
use tokio::sync::watch;
use tokio::time::sleep;

/// Held by everything that uses a connection.
#[derive(Clone, Default)]
pub(super) struct InUse(watch::Sender<()>);

impl InUse {
    /// What runs the connection's tasks. They have `closing` left when nobody uses the connection any more.
    pub(super) fn tasks(&self, closing: Duration) -> WhileUsed {
        WhileUsed { used: self.0.subscribe(), closing }
    }
}

/// Runs tasks of a connection while it is used, and for a short time after that.
#[derive(Clone)]
pub(super) struct WhileUsed {
    used: watch::Receiver<()>,
    closing: Duration,
}

impl WhileUsed {
    /// Runs one task; `None` when it had to be ended.
    pub(super) async fn run<T>(mut self, task: impl Future<Output = T>) -> Option<T> {
        let given_up = async {
            // Nothing is ever sent: this waits until the last holder is gone.
            while self.used.changed().await.is_ok() {}
            sleep(self.closing).await;
        };
        tokio::select! {
            biased;
            done = task => Some(done),
            () = given_up => None,
        }
    }
}

/// Runs the tasks of one HTTP/2 connection, and calls the callback after each step.
#[derive(Clone)]
pub(super) struct Watched {
    look: Arc<OnceLock<Box<dyn Fn() + Send + Sync>>>,
    tasks: WhileUsed,
}

impl Watched {
    pub(super) fn new(tasks: WhileUsed) -> Self {
        Self { look: Arc::default(), tasks }
    }

    pub(super) fn tell(&self, look: impl Fn() + Send + Sync + 'static) {
        let _once = self.look.set(Box::new(look));
    }
}

impl<F> Executor<F> for Watched
where
    F: Future<Output: Send> + Send + 'static,
{
    fn execute(&self, task: F) {
        let look = Arc::clone(&self.look);
        tokio::spawn(self.tasks.clone().run(async move {
            let mut task = pin!(task);
            poll_fn(|cx| {
                let polled = task.as_mut().poll(cx);
                if let Some(look) = look.get() {
                    look();
                }
                polled
            })
            .await
        }));
    }
}
