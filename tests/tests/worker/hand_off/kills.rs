//! Kills at moments that the dice choose, in the middle of deliveries and attempts, again and again on the same state.

use std::collections::BTreeSet;

use bytes::Bytes;
use futures_util::future::{join, join_all};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tests::delivery::Delivery;
use tests::workerd::{State, Workerd};
use tests::{Answer, Receiver};

use super::{FORWARDING, PATH, deliver, effects, receiver, standing};

const ROUNDS: usize = 5;
const EVENTS: usize = 40;

/// Whatever was acknowledged is recorded and has its effect. What was not acknowledged, the sender brings again.
#[tokio::test]
async fn kills_at_any_moment_lose_nothing() {
    let sink =
        Receiver::start(|arrival| Answer::status(if arrival.number % 5 == 0 { 503 } else { 200 })).await;
    let state = State::new();
    let workers = [receiver("kills").with_origin(&sink.url("/sink"), FORWARDING)];
    let mut dice = StdRng::seed_from_u64(7);
    let (mut all, mut acknowledged) = (BTreeSet::new(), BTreeSet::new());
    for round in 0..ROUNDS {
        let workerd = Workerd::start(&state, &workers).await;
        let url = workerd.url("kills", PATH);
        let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
        let ids: Vec<_> = (0..EVENTS).map(|n| format!("evt_kills_{round}_{n:02}")).collect();
        let sending = join_all(ids.iter().map(async |id| {
            let answer = client.request(Delivery::of_event(id).request(&url).map(Full::new)).await;
            answer.is_ok_and(|answer| answer.status() == 200).then(|| id.clone())
        }));
        let enough = sink.arrivals().all.len() + dice.random_range(0..EVENTS);
        let killing = async {
            sink.until("the moment of the kill", |arrivals| arrivals.all.len() >= enough).await;
            workerd.kill().await;
        };
        let (answers, ()) = join(sending, killing).await;
        acknowledged.extend(answers.into_iter().flatten());
        all.extend(ids);
    }
    let workerd = Workerd::start(&state, &workers).await;
    for id in all.difference(&acknowledged) {
        assert_eq!(deliver(&workerd, "kills", id).await.0, 200, "{id}");
    }
    standing(&workerd, "kills", [0, 0, (ROUNDS * EVENTS) as u64, 0]).await;
    workerd.stop().await;
    let arrivals = sink.arrivals();
    assert_eq!(effects(&arrivals, "/sink").into_keys().collect::<BTreeSet<_>>(), all);
    let records = state.records("kills").await;
    assert_eq!(records.iter().map(|record| record.id.clone()).collect::<BTreeSet<_>>(), all);
    for record in records {
        let requests = arrivals.all.iter().filter(|arrival| arrival.event_id == record.id).count();
        assert!((1..=record.attempts).contains(&(requests as i64)), "{record:?}: {requests}");
        assert_eq!((record.status.as_str(), record.last_error), ("processed", None), "{}", record.id);
    }
}
