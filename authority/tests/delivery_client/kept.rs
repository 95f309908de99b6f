//! Kept connections: how long they are used, and what happens when the receiver closes one.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use authority::clock::Clock;
use authority::dispatch::client::{DeliveryClient, DeliveryLimits, Egress};
use authority::dispatch::connector::Resolve;
use authority_domain::AttemptOutcome;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use super::scripted_receiver::*;

/// A name server that counts, and from some question on leads into the network of the service.
#[derive(Default)]
pub(crate) struct Counted {
    asked: AtomicUsize,
    astray_from: Option<usize>,
}

impl Counted {
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Resolve for Counted {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let astray = self.astray_from.is_some_and(|from| asked >= from);
        Ok(vec![if astray { "10.0.0.1" } else { "127.0.0.1" }.parse().unwrap()])
    }
}

/// A clock that runs on only when it is turned.
#[derive(Default)]
pub(crate) struct Turned(AtomicU64);

impl Turned {
    pub(crate) fn turn(&self, by: Duration) {
        self.0.fetch_add(u64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for Turned {
    fn now_ms(&self) -> i64 {
        i64::try_from(self.0.load(Ordering::SeqCst)).unwrap()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Answers every request on every connection.
async fn serve_all(listener: &TcpListener) {
    loop {
        let mut connection = listener.accept().await.unwrap().0;
        tokio::spawn(async move {
            while let Some(_request) = next_request(&mut connection).await {
                connection.write_all(OK).await.unwrap();
            }
        });
    }
}

/// So many attempts, so many seconds apart: their outcomes, and how often a name had been asked for after each.
async fn spaced(names: Counted, attempts: usize, seconds: u64) -> (Vec<AttemptOutcome>, Vec<usize>) {
    let (listener, port) = listener().await;
    let (names, clock) = (Arc::new(names), Arc::new(Turned::default()));
    let asked = Arc::clone(&names) as Arc<dyn Resolve>;
    let client =
        DeliveryClient::new(DeliveryLimits::default(), Egress::default(), asked, clock.clone()).unwrap();
    let url = endpoint(&format!("http://localhost:{port}/hook"));
    let attempts = async {
        let (mut outcomes, mut asked) = (Vec::new(), Vec::new());
        for _ in 0..attempts {
            outcomes.push(attempt(&client, &url).await.outcome);
            asked.push(names.asked());
            clock.turn(Duration::from_secs(seconds));
        }
        (outcomes, asked)
    };
    during(serve_all(&listener), attempts).await
}

/// Twenty attempts, three seconds apart: always on a kept connection, and none is older than 30 s.
#[tokio::test]
async fn a_kept_connection_is_resolved_anew_within_thirty_seconds() {
    let (outcomes, asked) = spaced(Counted::default(), 20, 3).await;
    assert_eq!(outcomes, [AttemptOutcome::Success; 20]);
    // A connection is used for 25 s: at 0, 3, … 24, then from 27 on.
    assert_eq!(asked, [[1; 9].as_slice(), &[2; 9], &[3; 2]].concat());
}

#[tokio::test]
async fn a_name_that_comes_to_lead_astray_gets_nothing_more_within_thirty_seconds() {
    let names = Counted { astray_from: Some(1), ..Counted::default() };
    let (outcomes, _) = spaced(names, 16, 2).await;
    assert_eq!(outcomes[..13], [AttemptOutcome::Success; 13]);
    assert_eq!(outcomes[13..], [AttemptOutcome::BlockedAddress; 3]);
}

#[tokio::test]
async fn a_connection_that_was_idle_for_too_long_is_not_used() {
    let (outcomes, asked) = spaced(Counted::default(), 3, 4).await;
    assert_eq!((outcomes, asked), (vec![AttemptOutcome::Success; 3], vec![1, 2, 3]));
}

/// A receiver that answers the first request on each connection, reads the next and closes without a word.
async fn close_kept(listener: &TcpListener, first: &AtomicUsize, second: &AtomicUsize) {
    loop {
        let mut connection = listener.accept().await.unwrap().0;
        if next_request(&mut connection).await.is_some() {
            first.fetch_add(1, Ordering::SeqCst);
            connection.write_all(OK).await.unwrap();
        }
        if next_request(&mut connection).await.is_some() {
            second.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[tokio::test]
async fn a_kept_connection_that_the_receiver_closed_costs_no_attempt() {
    let (listener, client, url) = plain(DeliveryLimits::default()).await;
    let (answered, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let attempts = async {
        for number in 1..=50 {
            let report = attempt(&client, &url).await;
            assert_eq!((report.outcome, report.status), SUCCESS, "{number}");
        }
    };
    during(close_kept(&listener, &answered, &dropped), attempts).await;
    // Each connection is kept once, and that request is sent again.
    assert_eq!((answered.into_inner(), dropped.into_inner()), (50, 49));
}

#[tokio::test]
async fn a_fresh_connection_that_the_receiver_closes_fails_the_attempt() {
    let (listener, client, url) = plain(DeliveryLimits::default()).await;
    let receiver = async {
        let mut connection = listener.accept().await.unwrap().0;
        read_request(&mut connection).await;
    };
    let (report, ()) = bounded(async { tokio::join!(attempt(&client, &url), receiver) }).await;
    assert_eq!((report.outcome, report.status), (AttemptOutcome::ConnectError, None));
    assert!(nobody_came(listener));
}

/// The second connection of an attempt is a fresh one and has no third, even where more are kept.
#[tokio::test]
async fn a_request_is_sent_at_most_twice_to_a_receiver_that_closes() {
    let (listener, client, url) = plain(DeliveryLimits::default()).await;
    let receiver = async {
        // Two connections that are kept.
        let mut kept = [listener.accept().await.unwrap().0, listener.accept().await.unwrap().0];
        for connection in &mut kept {
            read_request(connection).await;
        }
        for connection in &mut kept {
            connection.write_all(OK).await.unwrap();
        }
        let [mut one, mut other] = kept;
        // One of them gets the request and is closed, and then a new one is.
        let kept = tokio::select! {
            Some(_) = next_request(&mut one) => { drop(one); other }
            Some(_) = next_request(&mut other) => { drop(other); one }
        };
        let mut fresh = listener.accept().await.unwrap().0;
        read_request(&mut fresh).await;
        drop(fresh);
        drop(kept);
    };
    let attempts = async {
        let both = tokio::join!(attempt(&client, &url), attempt(&client, &url));
        assert_eq!((both.0.outcome, both.1.outcome), (AttemptOutcome::Success, AttemptOutcome::Success));
        attempt(&client, &url).await
    };
    let (report, ()) = bounded(async { tokio::join!(attempts, receiver) }).await;
    assert_eq!((report.outcome, report.status), (AttemptOutcome::ConnectError, None));
    assert!(nobody_came(listener), "there is no third");
}

/// A receiver that begins to answer means that answer.
#[tokio::test]
async fn an_answer_that_has_begun_is_not_asked_for_again() {
    let (listener, client, url) = plain(DeliveryLimits::default()).await;
    let receiver = async {
        let mut connection = answer_one(&listener, OK).await;
        read_request(&mut connection).await;
        connection.write_all(b"H").await.unwrap();
    };
    let attempts = async {
        assert_eq!(attempt(&client, &url).await.outcome, AttemptOutcome::Success);
        attempt(&client, &url).await
    };
    let (report, ()) = bounded(async { tokio::join!(attempts, receiver) }).await;
    assert_eq!((report.outcome, report.status), (AttemptOutcome::ConnectError, None));
    assert!(nobody_came(listener));
}
