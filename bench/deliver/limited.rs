//! A receiver that can take only so much, and counts what it took.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bench_kit::receivers::{self, Answered};
use http::header::RETRY_AFTER;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;

/// What a receiver can take. Whatever it takes, it takes 100 ms over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// So many at once; 429 beyond, with `Retry-After` where it names a time.
    AtOnce { places: usize, retry_after_s: Option<u64> },
    /// So many per second, and as many saved up; 429 with `Retry-After: 1` beyond.
    PerSecond { rate: f64, saved: f64 },
    /// So many at once at full speed; with more, everybody waits in proportion.
    Slows { places: usize },
    /// At so many at once it answers 503 to everybody for as long as it needs.
    Falls { at: usize, needs: Duration },
}

/// How long a request takes where there is room.
pub(crate) const TAKES: Duration = Duration::from_millis(100);

/// What it took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) taken: usize,
    pub(crate) refused: usize,
    /// The most at once.
    pub(crate) most: usize,
    /// How often it fell over.
    pub(crate) falls: usize,
    pub(crate) last: Option<Instant>,
}

#[derive(Debug)]
struct State {
    limit: Limit,
    at_once: usize,
    saved: f64,
    filled: Instant,
    down_until: Option<Instant>,
    seen: Seen,
}

/// Clones are one receiver.
#[derive(Clone, Debug)]
pub(crate) struct Limited(Arc<Mutex<State>>);

/// What becomes of a request.
enum Verdict {
    Take(Duration),
    Refuse(StatusCode, Option<u64>),
}

impl Limited {
    pub(crate) fn new(limit: Limit) -> Self {
        let saved = if let Limit::PerSecond { saved, .. } = limit { saved } else { 0.0 };
        Self(Arc::new(Mutex::new(State {
            limit,
            at_once: 0,
            saved,
            filled: Instant::now(),
            down_until: None,
            seen: Seen::default(),
        })))
    }

    /// What it has taken so far.
    pub(crate) fn seen(&self) -> Seen {
        self.0.lock().unwrap().seen
    }

    /// Opens it; the address of its endpoint.
    pub(crate) async fn open(&self) -> String {
        let receiver = self.clone();
        receivers::open(move |request| receiver.clone().answer(request)).await
    }

    async fn answer(self, request: Request<Incoming>) -> Answered<Infallible> {
        let _ = request.into_body().collect().await;
        let verdict = self.0.lock().unwrap().judge();
        let mut response = Response::new(Empty::new());
        match verdict {
            Verdict::Take(time) => {
                tokio::time::sleep(time).await;
                let mut state = self.0.lock().unwrap();
                state.at_once -= 1;
                state.seen.taken += 1;
                state.seen.last = Some(Instant::now());
            }
            Verdict::Refuse(status, retry_after) => {
                *response.status_mut() = status;
                if let Some(seconds) = retry_after {
                    response.headers_mut().insert(RETRY_AFTER, seconds.into());
                }
            }
        }
        Ok(response)
    }
}

impl State {
    fn judge(&mut self) -> Verdict {
        let now = Instant::now();
        let verdict = match self.limit {
            Limit::AtOnce { places, retry_after_s } if self.at_once >= places => {
                Verdict::Refuse(StatusCode::TOO_MANY_REQUESTS, retry_after_s)
            }
            Limit::PerSecond { rate, saved } => {
                let gained = (now - self.filled).as_secs_f64() * rate;
                (self.saved, self.filled) = ((self.saved + gained).min(saved), now);
                if self.saved >= 1.0 {
                    self.saved -= 1.0;
                    Verdict::Take(TAKES)
                } else {
                    Verdict::Refuse(StatusCode::TOO_MANY_REQUESTS, Some(1))
                }
            }
            Limit::Slows { places } => {
                Verdict::Take(TAKES.mul_f64((self.at_once + 1).max(places) as f64 / places as f64))
            }
            Limit::Falls { .. } if self.down_until.is_some_and(|until| until > now) => {
                Verdict::Refuse(StatusCode::SERVICE_UNAVAILABLE, None)
            }
            Limit::Falls { at, needs } if self.at_once + 1 >= at => {
                self.down_until = Some(now + needs);
                self.seen.falls += 1;
                Verdict::Refuse(StatusCode::SERVICE_UNAVAILABLE, None)
            }
            Limit::AtOnce { .. } | Limit::Falls { .. } => Verdict::Take(TAKES),
        };
        match verdict {
            Verdict::Take(_) => {
                self.at_once += 1;
                self.seen.most = self.seen.most.max(self.at_once);
            }
            Verdict::Refuse(..) => self.seen.refused += 1,
        }
        verdict
    }
}
