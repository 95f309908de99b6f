//! The writer's queue: jobs in the order they came, and the request to close.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{mpsc, oneshot};

use crate::writer::{End, Job};

/// Jobs that may be queued for the writer; beyond it, senders wait.
const QUEUE_MAX: usize = 1024;

/// A job that is counted until it is answered.
pub(crate) struct Counted {
    pub(crate) job: Box<dyn Job>,
    _count: Count,
}

/// The count of one job that is not answered yet.
struct Count(Arc<AtomicUsize>);

impl Counted {
    pub(crate) fn new(job: Box<dyn Job>, unanswered: &Arc<AtomicUsize>) -> Self {
        unanswered.fetch_add(1, Ordering::Relaxed);
        Self { job, _count: Count(Arc::clone(unanswered)) }
    }

    pub(crate) fn answer(self, end: End) {
        self.job.answer(end);
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A message to the writer.
pub(crate) enum Message {
    Job(Counted),
    Close(oneshot::Sender<()>),
}

/// The writer's queue.
pub(crate) struct Queue {
    messages: mpsc::Receiver<Message>,
    /// Jobs that were taken from the channel and not run yet.
    jobs: VecDeque<Counted>,
    closing: Option<oneshot::Sender<()>>,
}

impl Queue {
    pub(crate) fn open() -> (mpsc::Sender<Message>, Self) {
        let (door, messages) = mpsc::channel(QUEUE_MAX);
        (door, Self { messages, jobs: VecDeque::new(), closing: None })
    }

    /// Waits until there is a job; `false` when no more will come.
    pub(crate) async fn wait(&mut self) -> bool {
        if self.jobs.is_empty() && self.closing.is_none() {
            match self.messages.recv().await {
                Some(message) => self.push(message),
                None => return false,
            }
        }
        if self.jobs.is_empty() {
            self.messages.close();
        }
        !self.jobs.is_empty()
    }

    fn push(&mut self, message: Message) {
        match message {
            Message::Job(job) => self.jobs.push_back(job),
            Message::Close(done) => self.closing = Some(done),
        }
    }

    /// Takes queued messages until there are `most` jobs. Returns whether there are any jobs.
    pub(crate) fn take(&mut self, most: usize) -> bool {
        while self.jobs.len() < most && self.closing.is_none() {
            match self.messages.try_recv() {
                Ok(message) => self.push(message),
                Err(_) => break,
            }
        }
        !self.jobs.is_empty()
    }

    /// The jobs that were taken.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = &Counted> {
        self.jobs.iter()
    }

    /// The next job that was taken.
    pub(crate) fn pop(&mut self) -> Option<Counted> {
        self.jobs.pop_front()
    }

    /// The next job that was taken without a prefetch.
    pub(crate) fn pop_unknown(&mut self) -> Option<Counted> {
        let place = self.jobs.iter().position(|waiting| waiting.job.ahead().is_none())?;
        self.jobs.remove(place)
    }

    /// Answers the request to close, if there was one.
    pub(crate) fn closed(self) {
        if let Some(done) = self.closing {
            let _ = done.send(());
        }
    }
}
