//! The load: as many clients as are wanted, each with one request in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bench_kit::connection::Connection;
use bytes::Bytes;
use futures_util::future::join_all;
use tests::merchant::checkout_body;
use tokio::sync::mpsc;

use crate::journal::Journal;

/// What ends a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) time: Duration,
    /// Requests at most.
    pub(crate) requests: usize,
}

/// What was asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) requests: usize,
    pub(crate) begun: Instant,
    /// When the last answer came.
    pub(crate) ended: Instant,
}

/// Asks at the times of a plan, `rate` per second, whatever has been answered by then. A request that finds every
/// connection busy waits for one, and that time counts.
pub(crate) async fn open(
    connections: Vec<Connection>,
    paths: &[String],
    rate: f64,
    time: Duration,
    journal: &Journal,
) -> Asked {
    let requests = (rate * time.as_secs_f64()) as usize;
    let begun = Instant::now();
    let (plan, due) = mpsc::unbounded_channel();
    // The runtime's timers know whole milliseconds only; a thread that sleeps is punctual to some microseconds.
    let pacer = std::thread::spawn(move || {
        for n in 0..requests {
            let due = begun + Duration::from_secs_f64(n as f64 / rate);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            plan.send((n, due)).unwrap();
        }
    });
    let due = Arc::new(tokio::sync::Mutex::new(due));
    let paths: Arc<[String]> = paths.into();
    let body = Bytes::from(checkout_body().to_string());
    let clients = connections.into_iter().map(|mut connection| {
        let (due, paths, body, journal) =
            (Arc::clone(&due), Arc::clone(&paths), body.clone(), journal.clone());
        tokio::spawn(async move {
            loop {
                let next = due.lock().await.recv().await;
                let Some((n, due)) = next else { return };
                let answer = connection.post(&paths[n % paths.len()], body.clone()).await;
                journal.answered(due, &answer);
            }
        })
    });
    for client in join_all(clients).await {
        client.unwrap();
    }
    pacer.join().unwrap();
    Asked { requests, begun, ended: Instant::now() }
}

/// Every connection asks again as soon as it is answered.
pub(crate) async fn closed(
    connections: Vec<Connection>,
    paths: &[String],
    bound: Bound,
    journal: &Journal,
) -> Asked {
    let next = Arc::new(AtomicUsize::new(0));
    let paths: Arc<[String]> = paths.into();
    let body = Bytes::from(checkout_body().to_string());
    let begun = Instant::now();
    let clients = connections.into_iter().map(|mut connection| {
        let (next, paths, body, journal) =
            (Arc::clone(&next), Arc::clone(&paths), body.clone(), journal.clone());
        tokio::spawn(async move {
            let mut asked = 0;
            while begun.elapsed() < bound.time {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= bound.requests {
                    break;
                }
                let due = Instant::now();
                let answer = connection.post(&paths[n % paths.len()], body.clone()).await;
                journal.answered(due, &answer);
                asked += 1;
            }
            asked
        })
    });
    let requests = join_all(clients).await.into_iter().map(Result::unwrap).sum();
    Asked { requests, begun, ended: Instant::now() }
}
