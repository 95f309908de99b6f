//! Receivers that stop reading: what an attempt at one has opened is closed soon after it, and its body is let go.

use std::sync::Arc;
use std::time::Duration;

use authority::dispatch::client::{DeliveryClient, DeliveryLimits};
use authority::dispatch::transport::{AttemptReport, AttemptRequest, Transport as _};
use authority_domain::AttemptOutcome;
use authority_domain::endpoint::url::TargetUrl;
use bytes::Bytes;
use http::HeaderMap;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket};
use tokio_rustls::TlsAcceptor;

use super::http2::Receiver;
use super::kept::Turned;
use super::scripted_receiver::*;
use super::tls::{Authority, for_localhost, trusting};

/// More than the buffers of two sockets take.
const LARGE: usize = 32 * 1024 * 1024;

/// What an attempt comes to, and the status of the answer.
type Reported = (AttemptOutcome, Option<u16>);

const TIMEOUT: Reported = (AttemptOutcome::Timeout, None);

/// What receivers answer that have read no more than a request's head, and what the attempt comes to: nothing, all of
/// an answer, and one whose body does not end.
const ANSWERS: [(&[u8], Reported); 3] =
    [(b"", TIMEOUT), (OK, SUCCESS), (b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nab", SUCCESS)];

fn short() -> DeliveryLimits {
    DeliveryLimits {
        deadline: Duration::from_secs(2),
        drain_timeout: Duration::from_millis(100),
        closing: Duration::from_millis(100),
        ..DeliveryLimits::default()
    }
}

/// A listener whose connections take in very little that nobody reads.
fn narrow() -> (TcpListener, u16) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(16).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

async fn attempt_with_much(client: &DeliveryClient, url: &TargetUrl) -> AttemptReport {
    let body = Bytes::from(vec![b' '; LARGE]);
    let (headers, identity, deadline) = (HeaderMap::new(), None, None);
    client.attempt(AttemptRequest { url, headers, body, identity, deadline }).await
}

async fn none_is_open(client: &DeliveryClient) {
    while client.open_connections() > 0 {
        tokio::task::yield_now().await;
    }
}

/// Reads the head of a request and answers so.
async fn answer_early<S: AsyncRead + AsyncWrite + Unpin>(mut connection: S, answer: &[u8]) -> S {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(connection.read_u8().await.unwrap());
    }
    connection.write_all(answer).await.unwrap();
    connection.flush().await.unwrap();
    connection
}

/// How much still comes until the other side has closed the connection.
async fn rest(mut connection: impl AsyncRead + Unpin) -> usize {
    let (mut buffer, mut total) = (vec![0; 64 * 1024], 0);
    while let Ok(read @ 1..) = connection.read(&mut buffer).await {
        total += read;
    }
    total
}

/// The attempt ends as it should, its connection is closed while nothing of it is read, and the rest is not sent.
async fn is_left_alone<S: AsyncRead + Unpin>(
    client: &DeliveryClient,
    url: &TargetUrl,
    receiver: impl Future<Output = S>,
    expected: Reported,
) {
    bounded(async {
        let (report, connection) = tokio::join!(attempt_with_much(client, url), receiver);
        assert_eq!((report.outcome, report.status), expected);
        none_is_open(client).await;
        assert!(rest(connection).await < LARGE);
    })
    .await;
}

#[tokio::test]
async fn a_receiver_that_stops_reading_keeps_no_connection() {
    for (answer, expected) in ANSWERS {
        let (listener, port) = narrow();
        let client = client(short(), loopback());
        let url = endpoint(&format!("http://127.0.0.1:{port}/hook"));
        let receiver = async { answer_early(listener.accept().await.unwrap().0, answer).await };
        is_left_alone(&client, &url, receiver, expected).await;
    }
}

#[tokio::test]
async fn a_receiver_that_stops_reading_keeps_no_connection_over_tls() {
    let authority = Authority::new();
    let acceptor = TlsAcceptor::from(Arc::new(authority.server(for_localhost())));
    for (answer, expected) in ANSWERS {
        let (listener, port) = narrow();
        let client = trusting(Some(&authority.pem), short());
        let url = endpoint(&format!("https://localhost:{port}/hook"));
        let receiver = async {
            let connection = listener.accept().await.unwrap().0;
            answer_early(acceptor.accept(connection).await.unwrap(), answer).await
        };
        is_left_alone(&client, &url, receiver, expected).await;
    }
}

/// A shared connection is used for 25 s, whatever came of its attempts; then it ends, read or not.
#[tokio::test]
async fn a_receiver_that_stops_reading_keeps_no_shared_connection() {
    for (answers, expected) in [(false, TIMEOUT), (true, SUCCESS)] {
        let (receiver, clock) = (Receiver::start().await, Arc::new(Turned::default()));
        let client = receiver.client_with(short(), loopback(), clock.clone());
        let script = async {
            let mut connection = receiver.frames().await;
            connection.open_wide().await;
            let stream = connection.head().await;
            if answers {
                connection.answer(stream).await;
            }
            connection
        };
        bounded(async {
            let (report, mut connection) = tokio::join!(attempt_with_much(&client, &receiver.url), script);
            assert_eq!((report.outcome, report.status), expected);
            clock.turn(Duration::from_secs(25));
            none_is_open(&client).await;
            assert_eq!(connection.request().await, None, "the rest of it is not sent");
        })
        .await;
    }
}
