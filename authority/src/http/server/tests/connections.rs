//! Which connections are kept, which give way, and what a shutdown waits for.

use std::io::Write as _;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{FOREVER, SHORT, ok, one_answer, start, to_end};
use crate::http::server::{Limits, Stopped};

#[tokio::test]
async fn a_reused_connection_may_rest_longer_than_a_head_may_take_but_not_for_ever() {
    let server = start(Limits { head_timeout: SHORT, idle_timeout: SHORT * 3, ..Limits::default() }).await;
    let mut stream = server.resting().await;
    // A fresh connection shows when the head's deadline has passed.
    assert_eq!(to_end(&mut server.connect().await).await, "");
    ok(&mut stream).await;
    assert_eq!(to_end(&mut stream).await, "");
}

#[tokio::test]
async fn idle_connections_keep_nobody_out() {
    let server = start(Limits { max_connections: 16, head_timeout: FOREVER * 2, ..Limits::default() }).await;
    let mut idle = Vec::new();
    for round in 0..300 {
        idle.push(server.sent(if round % 2 == 0 { "" } else { "GET /ok HTTP/1.1\r\n" }).await);
    }
    ok(&mut server.connect().await).await;
    // The first ones were evicted.
    assert_eq!(to_end(&mut idle[0]).await, "");
}

#[tokio::test]
async fn who_has_sent_a_request_gives_way_last() {
    let server = start(Limits { max_connections: 3, head_timeout: FOREVER * 2, ..Limits::default() }).await;
    let mut proven = server.resting().await;
    let mut fresh = Vec::new();
    for _ in 0..10 {
        fresh.push(server.connect().await);
    }
    ok(&mut proven).await;
    for stream in fresh.iter_mut().take(8) {
        assert_eq!(to_end(stream).await, "");
    }
}

#[tokio::test]
async fn resting_connections_keep_nobody_from_a_first_request() {
    let server = start(Limits { max_connections: 16, head_timeout: FOREVER * 2, ..Limits::default() }).await;
    let mut resting = Vec::new();
    for _ in 0..16 {
        resting.push(server.resting().await);
    }
    // Slow to send its first request, while others come.
    let mut slow = server.connect().await;
    for _ in 0..3 {
        ok(&mut server.connect().await).await;
    }
    ok(&mut slow).await;
    assert_eq!(to_end(&mut resting[0]).await, "");
}

#[tokio::test]
async fn a_request_in_flight_is_never_dropped_for_a_new_connection() {
    let server = start(Limits { max_connections: 1, ..Limits::default() }).await;
    let mut busy = server.busy().await;
    let mut next = server.sent("GET /ok HTTP/1.1\r\nhost: a\r\n\r\n").await;
    server.release.notify_one();
    assert!(one_answer(&mut busy).await.ends_with("waited"));
    assert!(one_answer(&mut next).await.ends_with("ok"));
}

#[tokio::test]
async fn bodies_that_do_not_come_keep_nobody_out() {
    let server = start(Limits { max_connections: 16, ..Limits::default() }).await;
    let head =
        "POST /read HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{";
    let mut stalled = Vec::new();
    for _ in 0..64 {
        stalled.push(server.sent(head).await);
    }
    ok(&mut server.connect().await).await;
    assert_eq!(to_end(&mut stalled[0]).await, "");
    // Those that hold no more than their share are served when the rest arrives.
    let last = stalled.last_mut().unwrap();
    last.write_all(b"}").await.unwrap();
    assert!(one_answer(last).await.ends_with("{}"));
}

#[tokio::test]
async fn an_answer_that_is_being_read_is_not_cut_off_for_newcomers() {
    let server = start(Limits { max_connections: 4, head_timeout: FOREVER * 2, ..Limits::default() }).await;
    let mut reading = server.sent("GET /big HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut first = [0; 12];
    reading.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let mut idle = Vec::new();
    for _ in 0..16 {
        idle.push(server.resting().await);
    }
    let mut rest = vec![0; 64 * 1024 * 1024];
    reading.read_exact(&mut rest).await.unwrap();
    assert!(rest.ends_with(b"xxxx"));
    assert_eq!(to_end(&mut idle[0]).await, "");
}

#[tokio::test]
async fn a_graceful_stop_finishes_what_is_in_flight_and_nothing_else() {
    let server = start(Limits::default()).await;
    let mut resting = server.resting().await;
    let mut silent = server.connect().await;
    let mut busy = server.busy().await;
    let (address, release) = (server.address, server.release.clone());
    let stopped = tokio::spawn(server.stop());
    assert_eq!(to_end(&mut resting).await, "");
    assert!(TcpStream::connect(address).await.is_err());
    release.notify_one();
    let answer = to_end(&mut busy).await;
    assert!(answer.ends_with("waited") && answer.contains("connection: close"), "{answer}");
    assert_eq!(to_end(&mut silent).await, "");
    assert_eq!(stopped.await.unwrap(), Stopped { cut_off: 0 });
}

#[tokio::test]
async fn what_was_sent_before_a_stop_is_answered() {
    let server = start(Limits::default()).await;
    let request = b"GET /ok HTTP/1.1\r\nhost: a\r\n\r\n";
    let mut peers = Vec::new();
    for _ in 0..16 {
        peers.push(server.resting().await);
    }
    // From here to the stop the server's tasks, which share this thread, do not run: half of the requests wait on
    // connections that it has, half on connections that the system has accepted for it.
    for resting in &peers {
        assert_eq!(resting.try_write(request).unwrap(), request.len());
    }
    for _ in 0..16 {
        let mut queued = std::net::TcpStream::connect(server.address).unwrap();
        queued.write_all(request).unwrap();
        queued.set_nonblocking(true).unwrap();
        peers.push(TcpStream::from_std(queued).unwrap());
    }
    let stopped = tokio::spawn(server.stop());
    for peer in &mut peers {
        let answer = to_end(peer).await;
        assert!(answer.ends_with("\r\n\r\nok") && answer.contains("connection: close"), "{answer}");
    }
    assert_eq!(stopped.await.unwrap(), Stopped { cut_off: 0 });
}

#[tokio::test]
async fn who_waits_for_a_slot_when_the_server_stops_still_gets_one() {
    let server = start(Limits { max_connections: 1, ..Limits::default() }).await;
    let mut busy = server.busy().await;
    // One that the server has taken, and one in the system's queue.
    let mut waiting = Vec::new();
    for _ in 0..2 {
        waiting.push(server.sent("GET /ok HTTP/1.1\r\nhost: a\r\n\r\n").await);
    }
    server.stop.send(()).unwrap();
    server.release.notify_one();
    assert!(to_end(&mut busy).await.ends_with("waited"));
    for stream in &mut waiting {
        assert!(to_end(stream).await.ends_with("ok"));
    }
    assert_eq!(server.task.await.unwrap(), Stopped { cut_off: 0 });
}

#[tokio::test]
async fn what_outlasts_the_grace_period_is_cut_off() {
    let server = start(Limits { stop_grace: SHORT, ..Limits::default() }).await;
    let mut busy = server.busy().await;
    assert_eq!(server.stop().await, Stopped { cut_off: 1 });
    assert_eq!(to_end(&mut busy).await, "");
}
