//! Shared connections in short supply: more of them than are kept, or a receiver that allows no request on its own.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use authority::dispatch::client::DeliveryLimits;
use authority_domain::AttemptOutcome;
use tokio::sync::Barrier;

use super::http2::{Receiver, all_succeed};
use super::scripted_receiver::*;

/// Where no connection is kept, requests share one as well; it is closed when the last of them has ended.
#[tokio::test]
async fn a_connection_above_the_limit_is_shared_while_it_is_used() {
    let receiver = Receiver::start().await;
    let client = receiver.client(DeliveryLimits { kept_connections: 0, ..DeliveryLimits::default() });
    let (together, connections) = (Arc::new(Barrier::new(40)), AtomicUsize::new(0));
    during(receiver.serve(100, together, &connections), async {
        all_succeed(&client, &receiver.url, 40).await;
        all_succeed(&client, &receiver.url, 40).await;
    })
    .await;
    assert_eq!(connections.into_inner(), 2);
}

#[tokio::test]
async fn a_further_connection_takes_the_place_of_an_idle_shared_one() {
    let (receiver, (other, port)) = (Receiver::start().await, listener().await);
    let limits = DeliveryLimits { kept_connections: 1, ..DeliveryLimits::default() };
    // Its clock stands still, so no connection is closed for its age.
    let client = receiver.client_with(limits, loopback(), Arc::default());
    bounded(async {
        let script = async {
            let mut shared = receiver.frames().await;
            let stream = shared.request().await.unwrap();
            shared.answer(stream).await;
            shared
        };
        let (report, mut shared) = tokio::join!(attempt(&client, &receiver.url), script);
        assert_eq!((report.outcome, report.status), SUCCESS);
        let url = endpoint(&format!("http://127.0.0.1:{port}/hook"));
        let (report, _open) = tokio::join!(attempt(&client, &url), answer_one(&other, OK));
        assert_eq!((report.outcome, report.status), SUCCESS);
        assert_eq!(shared.request().await, None);
    })
    .await;
}

/// A receiver that allows no streams for a while gets no further connection, on which it would say the same. Attempts
/// wait until it allows one again, or until their deadline.
#[tokio::test]
async fn a_receiver_that_allows_no_streams_gets_no_further_connection() {
    let receiver = Receiver::start().await;
    let limits = DeliveryLimits { deadline: Duration::from_secs(2), ..DeliveryLimits::default() };
    let client = receiver.client(limits);
    bounded(async {
        let script = async {
            let mut connection = receiver.frames().await;
            let stream = connection.request().await.unwrap();
            connection.answer(stream).await;
            connection.allow(0).await;
            connection
        };
        let (report, mut connection) = tokio::join!(attempt(&client, &receiver.url), script);
        assert_eq!((report.outcome, report.status), SUCCESS);
        let report = attempt(&client, &receiver.url).await;
        assert_eq!((report.outcome, report.status), (AttemptOutcome::Timeout, None));
        // The attempt waits already when the receiver allows a stream again: it is polled first.
        let script = async {
            connection.allow(1).await;
            let stream = connection.request().await.unwrap();
            connection.answer(stream).await;
        };
        let (report, ()) = tokio::join!(attempt(&client, &receiver.url), script);
        assert_eq!((report.outcome, report.status), SUCCESS);
    })
    .await;
    assert!(nobody_came(receiver.listener));
}
