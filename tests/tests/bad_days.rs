//! Bad days that need a whole process to be seen: a disk without room, and thousands of connections that want nothing.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};
use serde_json::Value;
use tests::{Merchant, Reply, checkout_body, sequences, text};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// What the database may still take before the disk is full.
const ROOM: u64 = 256 * 1024;

/// No room for a write: 503 with `Retry-After`, reads go on, nothing is half done; with room again everything that was
/// answered is there (contract 5.2).
#[tokio::test]
async fn a_full_disk_is_503_and_harms_nothing() {
    let (mut authority, merchant) = Merchant::alone_with(&[("AUTHORITY_LOG", "off")], "cramped").await;
    let order = merchant.paid_order().await;
    authority.terminate().await;
    let largest = authority.files().iter().map(|(_, bytes)| bytes.len() as u64).max().unwrap();
    authority.restart_with_files_of_at_most(largest + ROOM).await;

    let open = async |key: usize| -> Reply {
        merchant
            .operator
            .post_as(&format!("open-{key}"), &merchant.platform_path("checkouts"), &checkout_body())
            .await
    };
    let mut made = BTreeSet::new();
    let refused = loop {
        let reply = open(made.len()).await;
        match reply.status {
            201 => made.insert(text(&reply.json(), "id")),
            _ => break reply,
        };
        assert!(made.len() < 10_000, "the disk does not fill up");
    };
    assert!(!made.is_empty(), "there was room for something");
    refused.refused(503, "service_unavailable");
    assert!(refused.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok()));
    for _ in 0..3 {
        open(made.len()).await.refused(503, "service_unavailable");
    }
    assert_eq!(text(&merchant.order(&order).await, "order_number"), order, "reading goes on");
    let ready = authority.probe("/readyz").await;
    ready.refused(503, "service_unavailable");
    assert!(ready.text().contains("takes no writes"), "{}", ready.text());
    // With room again it is ready by itself.
    let pid = Pid::from_raw(authority.pid().try_into().unwrap());
    let Rlimit { maximum, .. } = getrlimit(Resource::Fsize);
    prlimit(pid, Resource::Fsize, Rlimit { current: maximum, maximum }).unwrap();
    assert_eq!(authority.probe("/readyz").await.status, 200);

    authority.kill().await;
    authority.restart().await;
    // The write that was refused had no effect: its key makes it now.
    made.insert(text(&open(made.len()).await.expect(201), "id"));
    let events = merchant.events().await;
    let opened = |event: &&Value| event["type"] == "checkout.created";
    let stored: BTreeSet<_> =
        events.iter().filter(opened).skip(1).map(|event| text(&event["data"]["object"], "id")).collect();
    assert_eq!(stored, made);
    assert_eq!(sequences(&events), Vec::from_iter(1..=events.len() as u64));
}

const HOSTILE: usize = 2_000;

/// What a connection sends that wants to hold a place.
const STALLS: [&str; 3] = [
    "",
    "GET /v1/merchant/orders HTTP/1.1\r\nHost: a\r\n",
    "POST /v1/merchant/webhook-endpoints HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{",
];

/// 2,000 connections that send nothing, half a head, or a head and no body: others are served meanwhile, and every one
/// of them is closed (contract 5.6, `http/server`).
#[tokio::test]
async fn two_thousand_stalled_connections_keep_nobody_out() {
    allow_many_files();
    let (authority, merchant) = Merchant::alone("besieged").await;
    let address = authority.merchant_address();
    let mut stalled: Vec<TcpStream> = stream::iter(0..HOSTILE)
        .map(|n| {
            let address = address.clone();
            async move {
                let mut connection = TcpStream::connect(&address).await.unwrap();
                connection.write_all(STALLS[n % STALLS.len()].as_bytes()).await.unwrap();
                connection
            }
        })
        .buffered(64)
        .collect()
        .await;
    for _ in 0..20 {
        // Each on a connection of its own.
        let newcomer = authority.merchant(&merchant.key);
        let answered = tokio::time::timeout(Duration::from_secs(5), newcomer.get("/orders")).await;
        assert_eq!(answered.unwrap().status, 200);
    }
    assert_eq!(text(&merchant.order(&merchant.paid_order().await).await, "status"), "confirmed");
    for connection in &mut stalled {
        let mut rest = Vec::new();
        let closed = tokio::time::timeout(Duration::from_secs(60), connection.read_to_end(&mut rest)).await;
        // A reset is an end as well: what was sent was never read.
        assert!(closed.is_ok(), "a connection that wants nothing is still open");
    }
}

/// Both ends of every connection are files, here and in the authority, which inherits the limit.
fn allow_many_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let current = Some(maximum.map_or(8_192, |maximum| maximum.min(8_192)));
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
}
