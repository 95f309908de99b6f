//! Heads that are too large, ambiguous or no HTTP, and bodies in codings that nobody reads.

use tokio::io::AsyncWriteExt;

use super::{one_answer, problem, start, to_end};
use crate::http::server::Limits;

#[tokio::test]
async fn heads_beyond_the_limits_are_refused() {
    let server = start(Limits::default()).await;
    let with_header =
        |bytes: usize| format!("GET /ok HTTP/1.1\r\nhost: a\r\nx-a: {}\r\n\r\n", "a".repeat(bytes));
    let with_target = |bytes: usize| format!("GET /{} HTTP/1.1\r\nhost: a\r\n\r\n", "a".repeat(bytes));
    let with_query = |bytes: usize| format!("GET /ok?{} HTTP/1.1\r\nhost: a\r\n\r\n", "a".repeat(bytes));
    let table = [
        (with_header(33 * 1024), "431", "request_header_fields_too_large"),
        (with_target(8 * 1024), "414", "uri_too_long"),
        (with_query(8 * 1024), "414", "uri_too_long"),
    ];
    for (request, status, code) in table {
        let mut stream = server.sent(&request).await;
        assert_eq!(problem(&to_end(&mut stream).await), (status, code.to_owned()));
    }
    let fits = [(with_header(31 * 1024), "200"), (with_target(8 * 1024 - 1), "404")];
    for (request, status) in fits {
        let answer = one_answer(&mut server.sent(&request).await).await;
        assert_eq!(answer.get(9..12), Some(status));
    }
}

/// Heads that do not fit hyper's buffer, and bytes that are not HTTP: hyper's own answers are not sent.
#[tokio::test]
async fn what_hyper_refuses_gets_the_headers_and_the_body_of_every_answer() {
    let server = start(Limits::default()).await;
    let lines = "x: y\r\n".repeat(101);
    let table = [
        (format!("GET /ok HTTP/1.1\r\nhost: a\r\nx-a: {}\r\n\r\n", "a".repeat(80 * 1024)), "431", HEADERS),
        (format!("GET /ok HTTP/1.1\r\n{lines}\r\n"), "431", HEADERS),
        ("GET /ok HTTP/1.1\r\nbad header\r\n\r\n".into(), "400", REQUEST),
        ("POST /read HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n".into(), "400", REQUEST),
        ("GET /ok HTTP/7.7\r\nhost: a\r\n\r\n".into(), "400", REQUEST),
        ("hello\r\n\r\n".into(), "400", REQUEST),
        ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}".into(), "400", REQUEST),
    ];
    for (request, status, code) in table {
        let mut fresh = server.sent(&request).await;
        let mut reused = server.resting().await;
        reused.write_all(request.as_bytes()).await.unwrap();
        for stream in [&mut fresh, &mut reused] {
            let answer = to_end(stream).await;
            assert_eq!(problem(&answer), (status, code.to_owned()), "{request:.40}");
            for line in
                ["cache-control: no-store", "x-content-type-options: nosniff", "connection: close", "date: "]
            {
                assert_eq!(answer.matches(line).count(), 1, "{line} in {answer}");
            }
        }
    }
}

const REQUEST: &str = "invalid_request";

const HEADERS: &str = "request_header_fields_too_large";

#[tokio::test]
async fn the_host_is_there_once_and_well_formed() {
    let server = start(Limits::default()).await;
    let good = ["host: a\r\n", "Host:  api.example.com:8080 \r\n", "host: [::1]:80\r\n", "host:\r\n"];
    for lines in good {
        let answer = one_answer(&mut server.sent(format!("GET /ok HTTP/1.1\r\n{lines}\r\n")).await).await;
        assert_eq!(answer.get(9..12), Some("200"), "{lines:?}");
    }
    let answer = to_end(&mut server.sent("GET /ok HTTP/1.0\r\n\r\n").await).await;
    assert_eq!(answer.get(9..12), Some("200"), "a version without Host");
    let bad =
        ["", "host: a\r\nhost: a\r\n", "host: a b\r\n", "host: a/b\r\n", "host: u@a\r\n", "host: a:b\r\n"];
    for lines in bad {
        let answer = to_end(&mut server.sent(format!("GET /ok HTTP/1.1\r\n{lines}\r\n")).await).await;
        assert_eq!(problem(&answer), ("400", REQUEST.to_owned()), "{lines:?}");
        assert!(answer.contains("connection: close"), "{answer}");
    }
}

#[tokio::test]
async fn transfer_codings_other_than_chunked_are_not_implemented() {
    let server = start(Limits::default()).await;
    let codings =
        ["gzip", "identity", "gzip, chunked", "chunked, chunked", "chunked, gzip", "chunked;q=1", ""];
    for coding in codings {
        let request = format!(
            "POST /read HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: {coding}\r\n\r\n\
             2\r\n{{}}\r\n0\r\n\r\n"
        );
        let answer = to_end(&mut server.sent(request).await).await;
        assert_eq!(problem(&answer), ("501", "not_implemented".to_owned()), "{coding}");
        assert!(answer.contains("connection: close"), "{answer}");
    }
    let request = "POST /read HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: Chunked\r\n\r\n\
                   2\r\n{}\r\n0\r\n\r\n";
    assert!(one_answer(&mut server.sent(request).await).await.ends_with("\r\n\r\n{}"));
}

#[tokio::test]
async fn two_lengths_are_refused_in_either_order_and_on_a_reused_connection() {
    let server = start(Limits::default()).await;
    let post = |lines: &str| {
        format!("POST /read HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n{lines}\r\n")
    };
    let body = "2\r\n{}\r\n0\r\n\r\n";
    let ambiguous = [
        "content-length: 2\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 2\r\n",
        "Transfer-Encoding: chunked\r\nx: y\r\nCONTENT-LENGTH: 12\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
    ];
    for lines in ambiguous {
        let request = format!("{}{body}", post(lines));
        let mut fresh = server.sent(&request).await;
        assert_eq!(problem(&to_end(&mut fresh).await), ("400", "invalid_request".into()), "{lines:?}");
        let mut reused = server.resting().await;
        reused.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(problem(&to_end(&mut reused).await), ("400", "invalid_request".into()), "{lines:?}");
    }
    let mut stream = server.connect().await;
    for _ in 0..3 {
        let request = format!("{}{body}", post("transfer-encoding: chunked\r\n"));
        stream.write_all(request.as_bytes()).await.unwrap();
        assert!(one_answer(&mut stream).await.ends_with("\r\n\r\n{}"));
        let request = format!("{}{{}}", post("content-length: 2\r\n"));
        stream.write_all(request.as_bytes()).await.unwrap();
        assert!(one_answer(&mut stream).await.ends_with("\r\n\r\n{}"));
    }
}

/// The second half of the head is a whole one, with one length.
#[tokio::test]
async fn a_head_that_is_cut_behind_another_request_hides_no_second_length() {
    let server = start(Limits::default()).await;
    let mut stream = server
        .sent(
            "GET /ok HTTP/1.1\r\nhost: a\r\n\r\nPOST /read HTTP/1.1\r\nhost: a\r\n\
             content-type: application/json\r\ncontent-length: 2\r\nx: ",
        )
        .await;
    // So the rest is read by itself.
    assert!(one_answer(&mut stream).await.ends_with("\r\n\r\nok"));
    let rest = "POST /read HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
    stream.write_all(rest.as_bytes()).await.unwrap();
    assert_eq!(problem(&to_end(&mut stream).await), ("400", "invalid_request".into()));
}

#[tokio::test]
async fn a_chunked_body_pipelined_behind_another_request_is_refused() {
    // Its head was read together with the other request, so it is unknown what hyper dropped from it.
    let server = start(Limits::default()).await;
    let pipelined = "GET /ok HTTP/1.1\r\nhost: a\r\n\r\nPOST /read HTTP/1.1\r\nhost: a\r\n\
                     content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
    let mut stream = server.sent(pipelined).await;
    assert!(one_answer(&mut stream).await.ends_with("\r\n\r\nok"));
    assert_eq!(problem(&to_end(&mut stream).await), ("400", "invalid_request".into()));
}
