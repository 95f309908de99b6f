//! What receivers answer, and what they do instead of answering.

use std::time::Duration;

use authority::dispatch::client::DeliveryLimits;
use authority::dispatch::transport::AttemptReport;
use authority_domain::AttemptOutcome;
use authority_domain::delivery::outcome::ReceiverWish;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::scripted_receiver::*;

/// An attempt at a receiver that reads the request, writes `answer` and closes.
async fn answered(answer: impl AsRef<[u8]>) -> AttemptReport {
    // The excerpt is waited for until the connection ends.
    let long = Duration::from_secs(600);
    let limits = DeliveryLimits { success_moment: long, failure_moment: long, ..DeliveryLimits::default() };
    let (listener, client, url) = plain(limits).await;
    let receiver = async { drop(answer_one(&listener, answer).await) };
    bounded(async { tokio::join!(attempt(&client, &url), receiver).0 }).await
}

#[tokio::test]
async fn the_request_is_the_one_of_the_contract() {
    let (listener, port) = listener().await;
    let client = client(DeliveryLimits::default(), loopback());
    let url = endpoint(&format!("http://127.0.0.1:{port}/hook?a=1"));
    let receiver = async {
        let mut connection = listener.accept().await.unwrap().0;
        let request = read_request(&mut connection).await;
        connection.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        request
    };
    let (report, request) = bounded(async { tokio::join!(attempt(&client, &url), receiver) }).await;
    assert_eq!((report.outcome, report.status), (AttemptOutcome::Success, Some(204)));
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<_> = head.split("\r\n").collect();
    assert_eq!(lines.remove(0), "POST /hook?a=1 HTTP/1.1");
    lines.sort_unstable();
    let host = format!("host: 127.0.0.1:{port}");
    let length = format!("content-length: {}", BODY.len());
    assert_eq!(
        lines,
        [
            "accept-encoding: identity",
            &length,
            "content-type: application/json",
            &host,
            "service-event-id: evt_01k3zqa7w5e8v9r2t4y6m8n0pq",
            "user-agent: Service-Webhooks/1",
        ]
    );
    assert_eq!(body, BODY);
}

#[tokio::test]
async fn an_answer_has_its_outcome() {
    let long_header = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(1024 * 1024));
    let many_headers = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(200));
    use AttemptOutcome::{ConnectError, HttpError, ProtocolError, Redirect, Success};
    // (answer, outcome, status, Retry-After, excerpt)
    type Row<'a> = (&'a str, AttemptOutcome, Option<u16>, Option<u64>, Option<&'a str>);
    let table: [Row<'_>; 19] = [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", Success, Some(200), None, Some("ok")),
        ("HTTP/1.0 200 OK\r\n\r\nold", Success, Some(200), None, Some("old")),
        ("HTTP/1.1 202 \r\ncontent-length: 0\r\n\r\n", Success, Some(202), None, None),
        (
            "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            Success,
            Some(200),
            None,
            None,
        ),
        (
            "HTTP/1.1 500 Internal Server Error\r\nretry-after: 9\r\n\r\na\nb\x1b\0",
            HttpError,
            Some(500),
            None,
            Some("a\\nb\\u{1b}\\u{0}"),
        ),
        ("HTTP/1.1 410 Gone\r\n\r\n", HttpError, Some(410), None, None),
        ("HTTP/1.1 429 No\r\nretry-after: 120\r\n\r\n", HttpError, Some(429), Some(120_000), None),
        ("HTTP/1.1 503 No\r\nRetry-After: 0\r\n\r\n", HttpError, Some(503), Some(0), None),
        ("HTTP/1.1 503 No\r\nretry-after: later\r\n\r\n", HttpError, Some(503), None, None),
        ("HTTP/1.1 304 Not Modified\r\n\r\n", Redirect, Some(304), None, None),
        // Lost before an answer
        ("", ConnectError, None, None, None),
        ("HTTP/1.1 200 OK\r\ncontent-le", ConnectError, None, None, None),
        // Not HTTP, or beyond its limits
        ("\x16\x03\x01 what?\r\n\r\n", ProtocolError, None, None, None),
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n", ProtocolError, None, None, None),
        ("HTTP/1.1 2000 OK\r\n\r\n", ProtocolError, None, None, None),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", ProtocolError, None, None, None),
        ("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", ProtocolError, None, None, None),
        (&long_header, ProtocolError, None, None, None),
        (&many_headers, ProtocolError, None, None, None),
    ];
    for (answer, outcome, status, retry_after_ms, excerpt) in table {
        let report = answered(answer).await;
        let shown = &answer[..answer.len().min(60)];
        assert_eq!((report.outcome, report.status), (outcome, status), "{shown:?}");
        assert_eq!(
            (report.retry_after_ms, report.excerpt.as_deref()),
            (retry_after_ms, excerpt),
            "{shown:?}"
        );
    }
}

#[tokio::test]
async fn a_body_that_ends_early_or_breaks_its_encoding_is_still_a_success() {
    let broken: [(&[u8], &str); 3] = [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", "half"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nnot a length\r\n", "abc"),
        (b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n\x1f\x8b", "\\u{1f}\u{fffd}"),
    ];
    for (answer, excerpt) in broken {
        let report = answered(answer).await;
        assert_eq!(report.outcome, AttemptOutcome::Success);
        assert_eq!(report.excerpt.as_deref(), Some(excerpt));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (elsewhere, elsewhere_port) = listener().await;
    for status in [301, 302, 303, 307, 308] {
        let location = format!("location: http://127.0.0.1:{elsewhere_port}/\r\ncontent-length: 0");
        let report = answered(format!("HTTP/1.1 {status} Moved\r\n{location}\r\n\r\n")).await;
        assert_eq!((report.outcome, report.status), (AttemptOutcome::Redirect, Some(status)));
    }
    assert!(nobody_came(elsewhere));
}

#[tokio::test]
async fn a_connection_is_used_again_and_carries_no_cookie() {
    let (listener, client, url) = plain(DeliveryLimits::default()).await;
    let receiver = async {
        let mut connection = listener.accept().await.unwrap().0;
        let mut requests = Vec::new();
        for _ in 0..3 {
            requests.push(read_request(&mut connection).await);
            let answer = b"HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 2\r\n\r\nok";
            connection.write_all(answer).await.unwrap();
        }
        requests
    };
    let attempts = async {
        for _ in 0..3 {
            assert_eq!(attempt(&client, &url).await.outcome, AttemptOutcome::Success);
        }
    };
    let ((), requests) = bounded(async { tokio::join!(attempts, receiver) }).await;
    assert_eq!(requests[0], requests[2], "an answer leaves nothing behind in the next request");
    assert!(nobody_came(listener));
}

#[tokio::test]
async fn a_receiver_that_says_nothing_times_out_and_is_hung_up_on() {
    let limits = DeliveryLimits { deadline: Duration::from_millis(300), ..DeliveryLimits::default() };
    for beginning in ["", "HTTP/1.1 200 OK\r\nx: y\r\n"] {
        let (listener, client, url) = plain(limits).await;
        let receiver = async {
            let mut connection = answer_one(&listener, beginning).await;
            closed(&mut connection).await;
        };
        let (report, ()) = bounded(async { tokio::join!(attempt(&client, &url), receiver) }).await;
        assert_eq!((report.outcome, report.status), (AttemptOutcome::Timeout, None));
        assert!(report.duration_ms >= 300, "{}", report.duration_ms);
    }
}

/// Answers one request with a head of this status and a body that drips until the connection is ended.
async fn drip(listener: &TcpListener, status: u16) {
    let head = format!("HTTP/1.1 {status} x\r\ntransfer-encoding: chunked\r\n\r\n");
    let mut connection = answer_one(listener, head).await;
    let mut drops = tokio::time::interval(Duration::from_millis(20));
    while connection.write_all(b"1\r\nx\r\n").await.is_ok() {
        drops.tick().await;
    }
}

/// The outcome does not wait for a body that drips, not even one that may drip on for an hour.
#[tokio::test]
async fn a_body_that_drips_for_ever_delays_no_outcome() {
    let limits = DeliveryLimits { drain_timeout: Duration::from_secs(3600), ..DeliveryLimits::default() };
    for (status, outcome) in [(200, AttemptOutcome::Success), (503, AttemptOutcome::HttpError)] {
        let (listener, client, url) = plain(limits).await;
        let report = bounded(async {
            tokio::select! {
                report = attempt(&client, &url) => report,
                () = drip(&listener, status) => panic!("the connection is kept while the body may be read"),
            }
        });
        let report = report.await;
        assert_eq!((report.outcome, report.status), (outcome, Some(status)));
    }
}

#[tokio::test]
async fn who_drips_for_ever_is_hung_up_on() {
    let limits = DeliveryLimits { drain_timeout: Duration::from_millis(200), ..DeliveryLimits::default() };
    let (listener, client, url) = plain(limits).await;
    let (report, ()) = bounded(async { tokio::join!(attempt(&client, &url), drip(&listener, 200)) }).await;
    assert_eq!((report.outcome, report.status), SUCCESS);
}

/// What a receiver wishes is read beside any status but a success (contract 15.7).
#[tokio::test]
async fn a_wish_is_read() {
    let wish = async |status: u16, header: &str| {
        answered(format!("HTTP/1.1 {status} x\r\n{header}\r\ncontent-length: 0\r\n\r\n")).await.wish
    };
    assert_eq!(wish(400, "service-delivery: disable").await, Some(ReceiverWish::Disable));
    assert_eq!(wish(503, "Service-Delivery: ABORT").await, Some(ReceiverWish::Abort));
    assert_eq!(wish(302, "service-delivery: abort").await, Some(ReceiverWish::Abort));
    assert_eq!(wish(200, "service-delivery: disable").await, None);
    assert_eq!(wish(400, "service-delivery: pause").await, None);
    assert_eq!(wish(400, "x: disable").await, None);
}

#[tokio::test]
async fn an_endless_body_is_dropped() {
    let limits = DeliveryLimits { drain_timeout: Duration::from_secs(600), ..DeliveryLimits::default() };
    let (listener, client, url) = plain(limits).await;
    let receiver = async {
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n";
        let mut connection = answer_one(&listener, head).await;
        while connection.write_all(&[b'x'; 16 * 1024]).await.is_ok() {}
    };
    let (report, ()) = bounded(async { tokio::join!(attempt(&client, &url), receiver) }).await;
    assert_eq!(report.outcome, AttemptOutcome::Success);
    assert_eq!(report.excerpt, Some("x".repeat(1024)));
}

#[tokio::test]
async fn an_answer_that_comes_before_the_body_was_read_counts() {
    let (listener, client, url) = plain(DeliveryLimits::default()).await;
    let receiver = async {
        let mut connection = listener.accept().await.unwrap().0;
        connection.read_u8().await.unwrap();
        connection.write_all(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        closed(&mut connection).await;
    };
    let attempts = async {
        let report = attempt(&client, &url).await;
        drop(client);
        report
    };
    let (report, ()) = bounded(async { tokio::join!(attempts, receiver) }).await;
    assert_eq!((report.outcome, report.status), (AttemptOutcome::HttpError, Some(413)));
}
