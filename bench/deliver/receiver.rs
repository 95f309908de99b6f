//! The receivers: any number of endpoints that answer alike.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bench_kit::receivers;
use http::Response;
use http_body_util::{BodyExt as _, Empty};

use crate::journal::Journal;

/// Any number of receivers that answer 200 after the same delay. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receivers {
    pub(crate) journal: Journal,
    delay_ms: Arc<AtomicU64>,
}

impl Receivers {
    /// From now on every answer comes so much after its request.
    pub(crate) fn delay(&self, ms: u64) {
        self.delay_ms.store(ms, Ordering::Relaxed);
    }

    /// Opens one more; the address of its endpoint.
    pub(crate) async fn open(&self) -> String {
        let receivers = self.clone();
        receivers::open(move |request| {
            let Self { journal, delay_ms } = receivers.clone();
            async move {
                let body = request.into_body().collect().await.unwrap().to_bytes();
                journal.arrived(&body);
                let delay_ms = delay_ms.load(Ordering::Relaxed);
                if delay_ms > 0 {
                    tokio::time::sleep(Duration::from_millis(delay_ms)).await;
                }
                Ok::<_, Infallible>(Response::new(Empty::new()))
            }
        })
        .await
    }
}
