//! The runtime of a simulation: one thread, paused time, and an order of tasks that only the seed decides.
//!
//! SQLite works on threads of its own. The runtime would take a wait for them for idleness and turn the time on by
//! itself; a blocking task that lives as long as the simulation keeps it from that. An answer of such a thread is
//! looked at only when no task can go on by itself, so that it makes no difference how fast it came.

use std::future::Future;
use std::sync::mpsc;

use tokio::runtime::Builder;

use crate::processor::Bound;

/// Tasks that run before the runtime looks for anything else; more than ever wait.
const EVERYTHING_THAT_CAN_GO_ON: u32 = 1 << 30;

/// Runs `simulation` to its end, in simulated time.
pub(crate) fn in_simulated_time<F>(simulation: F) -> F::Output
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let _bound = Bound::to_the_least_used();
    let runtime = Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .global_queue_interval(EVERYTHING_THAT_CAN_GO_ON)
        .event_interval(EVERYTHING_THAT_CAN_GO_ON)
        .build()
        .expect("a runtime");
    runtime.block_on(async move {
        let (over, until_over) = mpsc::channel::<()>();
        let keeps_time_still = tokio::task::spawn_blocking(move || until_over.recv());
        // A task like the others: what is polled outside of their queue would come between them at any time.
        let result = tokio::spawn(simulation).await.expect("the simulation itself goes on");
        drop(over);
        let _ = keeps_time_still.await;
        result
    })
}
