//! Many hostile requests in a row, drawn from dice, and clients that hang up at every moment: no answer is a 5xx,
//! nothing panics, nothing is kept, and what the authority sends in between is taken (contract 11.1).

use std::fmt::Write as _;
use std::sync::LazyLock;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use http::Request;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tests::delivery::{Delivery, SECRET, event, header_line};
use tests::workerd::{State, Worker, Workerd};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::PATH;

const MIB: usize = 1 << 20;

async fn receiver(state: &State) -> Workerd {
    Workerd::start(state, &[Worker::at_the_vectors("target")]).await
}

/// What bodies without any form are cut from: drawing each anew took most of the test's processor time.
static NOISE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut noise = vec![0; 2 * MIB];
    StdRng::seed_from_u64(0).fill(&mut noise[..]);
    noise
});

/// What is hostile about a request.
const KINDS: usize = 8;

/// A request that no sender of good will makes, of a kind and otherwise as the dice say.
fn hostile(kind: usize, dice: &mut StdRng) -> Delivery {
    let id = format!("evt_{}", dice.random::<u64>());
    match kind {
        0 => {
            let begin = dice.random_range(0..=2 * MIB);
            Delivery::signed(NOISE[begin..].to_vec().into(), &id, &[SECRET])
        }
        1 => {
            let mut delivery = Delivery::of_event(&id);
            for n in 0..dice.random_range(1..150) {
                let value = vec![dice.random_range(0x80..=0xff); dice.random_range(0..60)];
                delivery.headers.push(header_line(&format!("x-{n}"), &value));
            }
            delivery.with("service-event-id", &[])
        }
        2 => {
            let forged = vec![format!("v1={:064x}", dice.random::<u128>()); dice.random_range(1..100)];
            let forged: Vec<_> = forged.iter().map(String::as_str).collect();
            Delivery::of_event(&id).with("service-signature", &forged)
        }
        3 => {
            let depth = dice.random_range(1..MIB / 2);
            Delivery::signed("[".repeat(depth).into_bytes().into(), &id, &[SECRET])
        }
        4 => {
            let good = event(&id, "webhook.test");
            let cut = dice.random_range(0..good.len());
            Delivery::signed(good.as_bytes()[..cut].to_vec().into(), &id, &[SECRET])
        }
        5 => {
            let coding = ["gzip", "br", "deflate", "identity, gzip", "\u{ff}"][dice.random_range(0..5)];
            let mut delivery = Delivery::of_event(&id);
            delivery.headers.push(header_line("content-encoding", coding.as_bytes()));
            delivery
        }
        6 => {
            let mut members = String::from("{");
            for n in 0..dice.random_range(1..20_000) {
                write!(members, "\"{n}\":{},", dice.random::<i64>()).unwrap();
            }
            members.push_str("\"0\":0}");
            Delivery::signed(members.into(), &id, &[SECRET])
        }
        _ => {
            let mut body = event(&id, "webhook.test").into_bytes();
            let place = dice.random_range(0..body.len());
            body[place] ^= 1 << dice.random_range(0..8);
            Delivery::signed(body.into(), "evt_other", &[SECRET])
        }
    }
}

/// Sends a thousand of them, some at a time, and a good delivery after each hundred.
async fn flood(workerd: &Workerd, seed: u64) {
    let mut dice = StdRng::seed_from_u64(seed);
    let url = workerd.url("target", PATH);
    for hundred in 0..10 {
        let lot: Vec<_> = (0..100).map(|n| (n % KINDS, hostile(n % KINDS, &mut dice))).collect();
        let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
        stream::iter(lot)
            .for_each_concurrent(8, async |(kind, delivery)| {
                // A body that is too large is not read, so the connection may break before its answer is seen.
                if let Ok(response) = client.request(delivery.request(&url).map(Full::new)).await {
                    let status = response.status().as_u16();
                    assert!((400..500).contains(&status), "kind {kind} of seed {seed}: {status}");
                }
            })
            .await;
        let good = Delivery::of_event(&format!("evt_good_{seed}_{hundred}"));
        assert_eq!(workerd.send(good.request(&url)).await.outcome(), (200, "ok"));
    }
}

#[tokio::test]
async fn thousands_of_hostile_requests_leave_nothing_behind() {
    let state = State::new();
    let mut workerd = receiver(&state).await;
    // The first two thousand show the runtime how much memory it needs at once. What the others hold when they are
    // answered, the runtime collects when it likes: it was seen to grow by 11 to 70 MiB, and to shrink again. If bodies
    // were kept, the two thousand would be more than 300 MiB.
    flood(&workerd, 1).await;
    flood(&workerd, 2).await;
    let before = workerd.memory().await;
    flood(&workerd, 3).await;
    flood(&workerd, 4).await;
    let after = workerd.memory().await;
    assert!(after < before + 128 * MIB as u64, "{before} bytes, then {after}");
    assert_eq!(workerd.logged("panicked").await, 0);
    workerd.stop().await;
    assert_eq!(state.records("target").await.len(), 40);
}

/// The bytes of a good delivery on the wire.
fn wire(delivery: &Delivery, authority: &str) -> Vec<u8> {
    let request: Request<Bytes> = delivery.request(&format!("http://{authority}{PATH}"));
    let mut bytes =
        format!("POST {PATH} HTTP/1.1\r\nhost: {authority}\r\ncontent-length: {}\r\n", delivery.body.len())
            .into_bytes();
    for (name, value) in request.headers() {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&delivery.body);
    bytes
}

#[tokio::test]
async fn clients_that_hang_up_cost_nobody_anything() {
    let state = State::new();
    let mut workerd = receiver(&state).await;
    let authority = workerd.url("target", "").replace("http://", "");
    let url = workerd.url("target", PATH);
    let mut dice = StdRng::seed_from_u64(4);
    for n in 0..400 {
        let delivery = Delivery::of_event(&format!("evt_{n:03}"));
        let bytes = wire(&delivery, &authority);
        let sent = if n % 4 == 0 { dice.random_range(0..bytes.len()) } else { bytes.len() };
        let mut connection = TcpStream::connect(&authority).await.unwrap();
        connection.write_all(&bytes[..sent]).await.unwrap();
        // Some go at once, some while their event is claimed, some with the first byte of the answer.
        match n % 4 {
            2 => tokio::task::yield_now().await,
            3 => drop(connection.read(&mut [0]).await),
            _ => {}
        }
        drop(connection);
        if n % 10 == 9 {
            let good = Delivery::of_event(&format!("evt_good_{n:03}"));
            assert_eq!(workerd.send(good.request(&url)).await.outcome(), (200, "ok"), "{n}");
        }
    }
    // The sender comes again, and has each of them taken: as the first or as a duplicate, whatever happened before.
    for n in 0..400 {
        let reply = workerd.send(Delivery::of_event(&format!("evt_{n:03}")).request(&url)).await;
        assert_eq!(reply.status, 200, "{n}");
    }
    assert_eq!(workerd.logged("panicked").await, 0);
    workerd.stop().await;
    assert_eq!(state.records("target").await.len(), 440);
}
