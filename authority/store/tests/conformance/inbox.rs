//! The receiver's inbox on real files: one claim wins, and what a crash left is found again (contract 11.2).

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use authority_store::StoreError;
use authority_store::inbox::Inbox;
use futures_util::future::join_all;
use tempfile::TempDir;
use verify_core::receiver::{Claimed, Record};

const BODY: &[u8] = br#"{"id":"evt_1"}"#;

fn record(id: &str) -> Record<'_> {
    Record {
        id,
        event_type: "order.confirmed",
        created_at: "2026-09-01T12:00:00.000Z",
        merchant_id: "mer_1",
        livemode: Some(false),
        received_at_ms: 1_788_264_000_000,
        body: BODY,
    }
}

async fn inbox(folder: &TempDir) -> Inbox {
    Inbox::open(&folder.path().join("inbox.db")).await.unwrap()
}

#[tokio::test]
async fn the_first_claim_of_an_id_wins_also_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let first = inbox(&folder).await;
    assert_eq!(first.count().await.unwrap(), 0);
    assert_eq!(first.claim(&record("evt_1")).await.unwrap(), Claimed::First);
    assert_eq!(first.claim(&record("evt_1")).await.unwrap(), Claimed::Duplicate);
    assert_eq!(first.claim(&Record { livemode: None, ..record("evt_2") }).await.unwrap(), Claimed::First);
    first.close().await;

    let second = inbox(&folder).await;
    assert_eq!(second.claim(&record("evt_1")).await.unwrap(), Claimed::Duplicate);
    assert_eq!(second.count().await.unwrap(), 2);
}

/// Two inboxes on one file stand for two processes of a receiver; each claims from many tasks at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_simultaneous_claims_exactly_one_is_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let inboxes = [inbox(&folder).await, inbox(&folder).await];
    for round in 0..25 {
        let id = format!("evt_{round}");
        let claims = (0..16).map(|task| {
            let (inbox, id) = (inboxes[task % 2].clone(), id.clone());
            tokio::spawn(async move { inbox.claim(&record(&id)).await.unwrap() })
        });
        let claimed: Vec<Claimed> = join_all(claims).await.into_iter().map(Result::unwrap).collect();
        let first = claimed.iter().filter(|claimed| **claimed == Claimed::First).count();
        assert_eq!((first, claimed.len()), (1, 16), "{id}");
    }
    assert_eq!(inboxes[0].count().await.unwrap(), 25);
}

#[tokio::test]
async fn what_was_claimed_and_never_processed_is_found_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let before = inbox(&folder).await;
    for (id, received_at_ms, body) in [("evt_b", 2, b"later"), ("evt_a", 1, b"early"), ("evt_c", 3, b"doneX")]
    {
        before.claim(&Record { received_at_ms, body, ..record(id) }).await.unwrap();
    }
    before.processed("evt_c").await.unwrap();
    before.close().await;

    let after = inbox(&folder).await;
    assert_eq!(after.unprocessed().await.unwrap(), [b"early".to_vec(), b"later".to_vec()]);
    after.processed("evt_a").await.unwrap();
    after.processed("evt_b").await.unwrap();
    assert_eq!(after.unprocessed().await.unwrap(), Vec::<Vec<u8>>::new());
    assert_eq!(after.count().await.unwrap(), 3);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("inbox.db"), "no database, and long enough to be looked at".repeat(8))
        .unwrap();
    let refused = Inbox::open(&folder.path().join("inbox.db")).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
}
