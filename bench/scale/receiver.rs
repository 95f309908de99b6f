//! The receivers: they answer at once, or when they are told to, and count.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bench_kit::receivers::{self, Answered};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use tokio::sync::watch;

/// Any number of receivers. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receivers {
    arrived: Arc<AtomicUsize>,
    silent: Arc<watch::Sender<bool>>,
}

impl Receivers {
    /// Deliveries that have arrived so far.
    pub(crate) fn arrived(&self) -> usize {
        self.arrived.load(Ordering::Relaxed)
    }

    /// Keeps every answer back until [`Receivers::answer`].
    pub(crate) fn keep_silent(&self) {
        self.silent.send_replace(true);
    }

    /// Answers at once from now on, and what was kept back too.
    pub(crate) fn answer(&self) {
        self.silent.send_replace(false);
    }

    /// Opens one more; the address of its endpoint.
    pub(crate) async fn open(&self) -> String {
        let receivers = self.clone();
        receivers::open(move |request| receivers.clone().take(request)).await
    }

    async fn take(self, request: Request<Incoming>) -> Answered<hyper::Error> {
        request.into_body().collect().await?;
        self.arrived.fetch_add(1, Ordering::Relaxed);
        let mut silent = self.silent.subscribe();
        // This value keeps the sender.
        let _ = silent.wait_for(|silent| !silent).await;
        Ok(Response::new(Empty::new()))
    }
}
