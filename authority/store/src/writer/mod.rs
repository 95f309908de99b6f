//! The writer: a few workers, each with a connection of its own, and one transaction for all queued jobs that can share
//! it (contract 12 T1, 21.2).
//!
//! A worker takes a batch of jobs from the queue, opens a transaction that holds the turns of their shards, runs each
//! job behind a savepoint, and commits once. A job that refuses is undone alone. No job is answered before the commit.
//! When the commit fails, every job in the transaction gets an error. A transaction that is lost before its commit was
//! sent has written nothing: where others write, its jobs run again, a few times at most, so that an instance which the
//! server took for silent answers its callers all the same. A job runs here and not in its request's future, so that a
//! client that hangs up cannot cancel it half way (T10).
//!
//! Jobs whose turn another instance holds go back to the queue, and the rest of the batch goes on without them. A job
//! that needs a turn that its transaction does not hold is undone and goes back as well. So does the rest of a batch
//! that computes for too long.
//!
//! SQLite has one worker, which holds every turn, and whose transaction also takes the jobs that come while it runs.
//!
//! Measured before it was chosen: with FULL durability, coalescing carries ten to twenty times as many writes on
//! SQLite as one transaction each.

mod progress;
mod worker;

use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinHandle;

use self::worker::Worker;
use crate::hand_off::CommitListeners;
use crate::queue::Queue;
use crate::supervisor::Supervisor;
use crate::writing_connection::WritingConnection;

/// The handle through which jobs are submitted to the writer.
#[derive(Clone)]
pub(crate) struct Writer {
    pub(crate) queue: Arc<Queue>,
    workers: Arc<Mutex<Vec<JoinHandle<Option<()>>>>>,
}

impl Writer {
    /// Starts a worker for each connection.
    pub(crate) fn start(
        connections: Vec<Box<dyn WritingConnection>>,
        listeners: &CommitListeners,
        supervisor: &Supervisor,
    ) -> Self {
        let queue = Arc::new(Queue::new(connections.len()));
        let several = connections.len() > 1;
        let worker = |connection| {
            let (queue, listeners) = (Arc::clone(&queue), listeners.clone());
            let worker = Worker { connection, queue, listeners, several, rests: false };
            supervisor.spawn("writer", worker.work())
        };
        let workers = connections.into_iter().map(worker).collect();
        Self { queue, workers: Arc::new(Mutex::new(workers)) }
    }

    /// Waits for the jobs already submitted, then ends the workers.
    pub(crate) async fn close(&self) {
        self.queue.close();
        let workers = std::mem::take(&mut *self.workers.lock().unwrap_or_else(PoisonError::into_inner));
        for worker in workers {
            let _ = worker.await;
        }
    }
}
