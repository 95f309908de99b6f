//! Many requests on one connection: the receiver's limit, what it refuses, and how its end is noticed.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use authority::dispatch::client::{DeliveryClient, DeliveryLimits, Egress};
use authority::dispatch::connector::Resolve;
use authority_domain::AttemptOutcome;
use authority_domain::endpoint::url::TargetUrl;
use bytes::Bytes;
use futures_util::future::join_all;
use http::{Request, Response};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Barrier;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::frames::{Frames, GOAWAY, REFUSED_STREAM, RST_STREAM};
use super::kept::{Counted, Turned};
use super::scripted_receiver::*;
use super::tls::{Authority, for_localhost, trusting};

/// A receiver that speaks HTTP/2 over TLS.
pub(crate) struct Receiver {
    pub(crate) listener: TcpListener,
    acceptor: TlsAcceptor,
    pub(crate) url: TargetUrl,
    authority: Authority,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let authority = Authority::new();
        let mut config = authority.server(for_localhost());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let (listener, port) = listener().await;
        let url = endpoint(&format!("https://localhost:{port}/hook"));
        Self { listener, acceptor: TlsAcceptor::from(Arc::new(config)), url, authority }
    }

    pub(crate) fn client(&self, limits: DeliveryLimits) -> DeliveryClient {
        trusting(Some(&self.authority.pem), limits)
    }

    /// A client that asks this name server, and whose time is that of this clock.
    pub(crate) fn client_with(
        &self,
        limits: DeliveryLimits,
        names: Arc<dyn Resolve>,
        clock: Arc<Turned>,
    ) -> DeliveryClient {
        let pem = Some(self.authority.pem.as_bytes());
        let egress = Egress { extra_roots_pem: pem, ..Egress::default() };
        DeliveryClient::new(limits, egress, names, clock).unwrap()
    }

    async fn accept(&self) -> TlsStream<TcpStream> {
        let connection = self.listener.accept().await.unwrap().0;
        self.acceptor.accept(connection).await.unwrap()
    }

    /// Accepts one that the test writes every frame of itself.
    pub(crate) async fn frames(&self) -> Frames {
        Frames::begin(self.accept().await).await
    }

    /// Answers on every connection, with so many streams on each, when as many requests as `together` says have come.
    pub(crate) async fn serve(&self, streams: u32, together: Arc<Barrier>, connections: &AtomicUsize) {
        loop {
            let connection = self.accept().await;
            connections.fetch_add(1, Ordering::SeqCst);
            let (together, in_flight) = (Arc::clone(&together), Arc::new(AtomicUsize::new(0)));
            let answer = service_fn(move |_: Request<Incoming>| {
                let (together, in_flight) = (Arc::clone(&together), Arc::clone(&in_flight));
                async move {
                    let before = in_flight.fetch_add(1, Ordering::SeqCst);
                    assert!(before < usize::try_from(streams).unwrap());
                    together.wait().await;
                    in_flight.fetch_sub(1, Ordering::SeqCst);
                    Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
                }
            });
            tokio::spawn(async move {
                hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                    .max_concurrent_streams(streams)
                    .serve_connection(TokioIo::new(connection), answer)
                    .await
            });
        }
    }
}

/// So many attempts at the same time, until each has got a 200.
pub(crate) async fn all_succeed(client: &DeliveryClient, url: &TargetUrl, attempts: usize) {
    for report in join_all((0..attempts).map(|_| attempt(client, url))).await {
        assert_eq!((report.outcome, report.status), SUCCESS);
    }
}

/// All requests are in flight at the same time, on as few connections as the receiver's limit allows: a burst to a
/// receiver that nobody knows is a single handshake where one is enough.
#[tokio::test]
async fn as_many_connections_are_made_as_the_limit_of_streams_asks_for() {
    for (streams, attempts, expected) in [(1, 8, 8), (10, 40, 4), (100, 128, 2), (200, 128, 1)] {
        let receiver = Receiver::start().await;
        let client = receiver.client(DeliveryLimits::default());
        let (together, connections) = (Arc::new(Barrier::new(attempts)), AtomicUsize::new(0));
        during(receiver.serve(streams, together, &connections), async {
            all_succeed(&client, &receiver.url, attempts).await;
            all_succeed(&client, &receiver.url, attempts).await;
        })
        .await;
        assert_eq!(connections.into_inner(), expected, "{streams} streams");
    }
}

#[tokio::test]
async fn a_shared_connection_is_resolved_anew_within_thirty_seconds() {
    let receiver = Receiver::start().await;
    let (names, clock) = (Arc::new(Counted::default()), Arc::new(Turned::default()));
    let client = receiver.client_with(DeliveryLimits::default(), names.clone(), clock.clone());
    let attempts = async {
        let mut asked = Vec::new();
        for _ in 0..12 {
            all_succeed(&client, &receiver.url, 2).await;
            asked.push(names.asked());
            clock.turn(Duration::from_secs(3));
        }
        asked
    };
    let connections = AtomicUsize::new(0);
    let asked = during(receiver.serve(10, Arc::new(Barrier::new(2)), &connections), attempts).await;
    assert_eq!(asked, [[1; 9].as_slice(), &[2; 3]].concat());
}

/// What comes of two attempts, one after the other, while the receiver does this.
async fn two_attempts(
    receiver: &Receiver,
    limits: DeliveryLimits,
    script: impl Future<Output = ()>,
) -> [(AttemptOutcome, Option<u16>); 2] {
    let client = receiver.client(limits);
    let attempts = async {
        let reports = [attempt(&client, &receiver.url).await, attempt(&client, &receiver.url).await];
        drop(client);
        reports.map(|report| (report.outcome, report.status))
    };
    bounded(async { tokio::join!(attempts, script) }).await.0
}

#[tokio::test]
async fn a_refused_stream_is_sent_again_on_another_connection() {
    let receiver = Receiver::start().await;
    let script = async {
        let mut first = receiver.frames().await;
        let stream = first.request().await.unwrap();
        first.write(RST_STREAM, 0, stream, &REFUSED_STREAM).await;
        receiver.frames().await.answer_all().await;
    };
    let reports = two_attempts(&receiver, DeliveryLimits::default(), script).await;
    assert_eq!(reports, [SUCCESS, SUCCESS]);
    assert!(nobody_came(receiver.listener));
}

#[tokio::test]
async fn a_receiver_that_refuses_every_stream_is_asked_three_times() {
    let receiver = Receiver::start().await;
    let client = receiver.client(DeliveryLimits::default());
    let script = async {
        for _ in 0..3 {
            let mut connection = receiver.frames().await;
            let stream = connection.request().await.unwrap();
            connection.write(RST_STREAM, 0, stream, &REFUSED_STREAM).await;
        }
    };
    let (report, ()) = bounded(async { tokio::join!(attempt(&client, &receiver.url), script) }).await;
    assert_eq!((report.outcome, report.status), (AttemptOutcome::ConnectError, None));
    assert!(nobody_came(receiver.listener));
}

/// A stream that the receiver resets for another reason may have been processed.
#[tokio::test]
async fn a_stream_that_is_reset_is_not_sent_again() {
    let receiver = Receiver::start().await;
    let script = async {
        let mut connection = receiver.frames().await;
        let stream = connection.request().await.unwrap();
        connection.write(RST_STREAM, 0, stream, &[0, 0, 0, 2]).await;
        connection.answer_all().await;
    };
    let reports = two_attempts(&receiver, DeliveryLimits::default(), script).await;
    assert_eq!(reports, [(AttemptOutcome::ProtocolError, None), SUCCESS]);
    assert!(nobody_came(receiver.listener));
}

/// The receiver goes away: what it has begun is answered on the old connection, what it has not on a new one.
#[tokio::test]
async fn what_a_goaway_leaves_out_is_sent_again() {
    let receiver = Receiver::start().await;
    let client = receiver.client(DeliveryLimits::default());
    let script = async {
        let mut first = receiver.frames().await;
        let begun = first.request().await.unwrap();
        let left_out = first.request().await.unwrap();
        assert!(left_out > begun);
        first.write(GOAWAY, 0, 0, &[begun.to_be_bytes(), [0; 4]].concat()).await;
        let mut second = receiver.frames().await;
        let again = second.request().await.unwrap();
        second.answer(again).await;
        first.answer(begun).await;
        tokio::join!(first.answer_all(), second.answer_all());
    };
    let attempts = async {
        all_succeed(&client, &receiver.url, 2).await;
        all_succeed(&client, &receiver.url, 2).await;
        drop(client);
    };
    bounded(async { tokio::join!(attempts, script) }).await;
    assert!(nobody_came(receiver.listener));
}

#[tokio::test]
async fn a_shared_connection_that_the_receiver_closed_costs_no_attempt() {
    let receiver = Receiver::start().await;
    let script = async {
        let mut first = receiver.frames().await;
        let stream = first.request().await.unwrap();
        first.answer(stream).await;
        first.request().await.unwrap();
        drop(first);
        receiver.frames().await.answer_all().await;
    };
    let reports = two_attempts(&receiver, DeliveryLimits::default(), script).await;
    assert_eq!(reports, [SUCCESS, SUCCESS]);
    assert!(nobody_came(receiver.listener));
}

#[tokio::test]
async fn a_fresh_shared_connection_that_the_receiver_closes_fails_the_attempt() {
    let receiver = Receiver::start().await;
    let client = receiver.client(DeliveryLimits::default());
    let script = async {
        receiver.frames().await.request().await.unwrap();
    };
    let (report, ()) = bounded(async { tokio::join!(attempt(&client, &receiver.url), script) }).await;
    assert_eq!((report.outcome, report.status), (AttemptOutcome::ConnectError, None));
    assert!(nobody_came(receiver.listener));
}

/// A connection that died without a word is found by a ping that nobody answers, and its request is sent again.
#[tokio::test]
async fn a_dead_connection_is_found_by_a_ping() {
    let receiver = Receiver::start().await;
    let (ping_interval, ping_timeout) = (Duration::from_millis(100), Duration::from_millis(100));
    let limits = DeliveryLimits { ping_interval, ping_timeout, ..DeliveryLimits::default() };
    let script = async {
        let mut first = receiver.frames().await;
        let stream = first.request().await.unwrap();
        first.answer(stream).await;
        first.request().await.unwrap();
        // From here on it reads and says nothing.
        tokio::join!(first.request(), async { receiver.frames().await.answer_all().await });
    };
    assert_eq!(two_attempts(&receiver, limits, script).await, [SUCCESS, SUCCESS]);
    assert!(nobody_came(receiver.listener));
}
