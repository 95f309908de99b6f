//! Peers that stall, drip, flood or never read.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{FOREVER, SHORT, problem, start, to_end};
use crate::http::server::{Limits, Stopped};

#[tokio::test]
async fn who_sends_nothing_or_half_a_head_is_cut_off() {
    let server = start(Limits { head_timeout: SHORT, ..Limits::default() }).await;
    for bytes in ["", "G", "GET /ok HTTP/1.1\r\nhost: a\r\n", "GET /ok HTTP/1.1\r\nhost: a\r\nx-a: "] {
        let mut stream = server.sent(bytes).await;
        assert_eq!(to_end(&mut stream).await, "", "{bytes:?}");
    }
}

#[tokio::test]
async fn a_dripping_head_has_one_deadline_as_a_whole() {
    let server = start(Limits { head_timeout: SHORT, ..Limits::default() }).await;
    let (mut reader, mut writer) = server.sent("GET /ok HTTP/1.1\r\n").await.into_split();
    let drip = async {
        let mut ticks = tokio::time::interval(SHORT / 10);
        loop {
            ticks.tick().await;
            if writer.write_all(b"x: y\r\n").await.is_err() {
                return;
            }
        }
    };
    let mut bytes = Vec::new();
    let cut_off = async {
        tokio::select! {
            read = reader.read_to_end(&mut bytes) => assert!(read.is_err() || bytes.is_empty()),
            () = drip => {}
        }
    };
    tokio::time::timeout(FOREVER, cut_off).await.expect("the server keeps the connection");
}

#[tokio::test]
async fn a_stalled_body_is_told_408_and_cut_off() {
    let server = start(Limits { body_timeout: SHORT, ..Limits::default() }).await;
    for begin in [
        "content-length: 10\r\n\r\n{",
        "content-length: 10\r\n\r\n",
        "transfer-encoding: chunked\r\n\r\n1\r\n{\r\n",
    ] {
        let head = format!("POST /read HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n{begin}");
        let mut stream = server.sent(head).await;
        let answer = to_end(&mut stream).await;
        assert_eq!(problem(&answer), ("408", "request_timeout".into()), "{begin:?}");
    }
}

#[tokio::test]
async fn a_body_that_nobody_read_ends_the_connection() {
    let server = start(Limits::default()).await;
    let request =
        "POST /unread HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nGET /ok HTTP/1.1\r\nhost: a\r\n\r\n";
    let mut stream = server.sent(request).await;
    let answer = to_end(&mut stream).await;
    assert!(answer.ends_with("\r\n\r\nunread") && answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn who_sends_far_too_much_before_it_reads_gets_its_answer() {
    let server = start(Limits::default()).await;
    // More than the sockets between client and server can buffer.
    let body = " ".repeat(32 * 1024 * 1024);
    for (path, answered) in [("/read", "413"), ("/unread", "200"), ("/nowhere", "404")] {
        for length in [format!("content-length: {}", body.len()), "transfer-encoding: chunked".to_owned()] {
            let head =
                format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n{length}");
            let chunk =
                if length.contains("chunked") { format!("{:x}\r\n", body.len()) } else { String::new() };
            let mut stream = server.sent(format!("{head}\r\n\r\n{chunk}{body}")).await;
            let answer = to_end(&mut stream).await;
            assert_eq!(answer.get(9..12), Some(answered), "{path} {length}: {answer}");
        }
    }
}

#[tokio::test]
async fn who_never_stops_sending_is_cut_off() {
    let server = start(Limits { linger_timeout: SHORT, ..Limits::default() }).await;
    let head = format!("POST /unread HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n", u64::MAX / 2);
    let mut stream = server.sent(head).await;
    let flood = async { while stream.write_all(&[b' '; 64 * 1024]).await.is_ok() {} };
    tokio::time::timeout(FOREVER, flood).await.expect("the server keeps the connection");
    let silent = server.sent("POST /unread HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n").await;
    // The slot is free again although this peer never closes its side.
    assert_eq!(tokio::time::timeout(FOREVER, server.stop()).await.unwrap(), Stopped { cut_off: 0 });
    drop(silent);
}

#[tokio::test]
async fn who_reads_nothing_of_the_answer_is_cut_off() {
    let limits = Limits { write_timeout: SHORT, head_timeout: SHORT * 3, ..Limits::default() };
    let server = start(limits).await;
    let mut stream = server.sent("GET /big HTTP/1.1\r\nhost: a\r\n\r\n").await;
    // A second connection shows when the first should have been cut off.
    assert_eq!(to_end(&mut server.connect().await).await, "");
    assert!(to_end(&mut stream).await.len() < 64 * 1024 * 1024);
}

/// Every read makes progress, and the whole is still too slow.
#[tokio::test]
async fn who_takes_an_answer_in_drops_is_cut_off() {
    let server = start(Limits { answer_timeout: SHORT, ..Limits::default() }).await;
    let mut stream = server.sent("GET /big HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut ticks = tokio::time::interval(SHORT / 10);
    let (mut drop, mut taken) = ([0; 64 * 1024], 0);
    let drip = async {
        loop {
            ticks.tick().await;
            match stream.read(&mut drop).await {
                Ok(0) | Err(_) => return taken,
                Ok(some) => taken += some,
            }
        }
    };
    let taken = tokio::time::timeout(FOREVER, drip).await.expect("the server keeps the connection");
    assert!(taken < 64 * 1024 * 1024);
}
