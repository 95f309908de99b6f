//! Which slot is given to whom, without sockets.

use futures_util::FutureExt;

use super::*;

#[tokio::test]
async fn what_gave_way_cannot_begin_and_what_began_cannot_give_way() {
    let connections = Connections::new(2);
    let (evicted, served) = (connections.enter().await, connections.enter().await);
    let turn = served.begin().unwrap();
    assert!(connections.evict_one());
    assert!(evicted.begin().is_err());
    assert!(!connections.evict_one());
    drop(turn);
    assert!(connections.evict_one());
    assert!(served.begin().is_err());
    assert!(!connections.evict_one());
}

#[tokio::test]
async fn the_ending_go_first_then_the_unproven_beyond_their_share_then_the_longest_resting() {
    let connections = Connections::new(5);
    let mut slots = Vec::new();
    for _ in 0..5 {
        slots.push(connections.enter().await);
    }
    // 3 has been idle the longest, then 0; 1 and 2 have never sent a request, and the newcomers' share is one
    // of them; 4 is ending.
    drop(slots[3].begin().unwrap());
    drop(slots[0].begin().unwrap());
    let turn = slots[4].begin().unwrap();
    slots[4].leave_body();
    drop(turn);
    let mut gone = Vec::new();
    for expected in [4, 1, 3, 0, 2] {
        assert!(connections.evict_one());
        gone.push(expected);
        gone.sort_unstable();
        let evicted: Vec<usize> =
            (0..5).filter(|n| slots[*n].phase.load(Ordering::Acquire) == EVICTED).collect();
        assert_eq!(evicted, gone);
    }
    assert!(!connections.evict_one());
}

#[tokio::test]
async fn requests_whose_bodies_do_not_come_hold_their_share_and_no_more() {
    let connections = Connections::new(8);
    let mut turns = Vec::new();
    for _ in 0..8 {
        let slot = connections.enter().await;
        let (turn, _) = slot.begin().unwrap();
        turns.push((slot, turn));
    }
    assert!(!connections.evict_one());
    for (slot, _) in turns.iter().take(3) {
        slot.await_body();
    }
    turns[0].0.end_body().unwrap();
    assert!(!connections.evict_one(), "two of eight are a quarter");
    turns[0].0.await_body();
    turns[0].0.await_body();
    assert!(connections.evict_one());
    assert!(turns[1].0.end_body().is_err(), "the one that has waited longest");
    assert!(!connections.evict_one());
    for (slot, turn) in turns {
        let evicted = slot.phase.load(Ordering::Acquire) == EVICTED;
        assert_eq!(slot.end_body().is_err(), evicted);
        drop(turn);
        assert_eq!(slot.phase.load(Ordering::Acquire), if evicted { EVICTED } else { RESTING });
    }
}

#[tokio::test]
async fn entering_waits_while_all_places_serve() {
    let connections = Connections::new(1);
    let slot = connections.enter().await;
    let turn = slot.begin().unwrap();
    let mut next = Box::pin(connections.enter());
    assert!((&mut next).now_or_never().is_none());
    drop(connections.place(&slot));
    assert!(next.now_or_never().is_some());
    drop(turn);
}

/// Has a request of this connection answered; its peer has read nothing of the answer yet.
fn answered(slot: &Arc<Slot>) {
    let turn = slot.begin().unwrap();
    slot.note_answer();
    drop(turn);
}

fn evicted(slots: &[Arc<Slot>]) -> Vec<usize> {
    (0..slots.len()).filter(|n| slots[*n].phase.load(Ordering::Acquire) == EVICTED).collect()
}

#[tokio::test]
async fn whose_answer_is_being_read_gives_way_last() {
    let connections = Connections::new(4);
    let mut slots = Vec::new();
    for _ in 0..4 {
        slots.push(connections.enter().await);
    }
    answered(&slots[0]);
    for slot in &slots[1..3] {
        answered(slot);
        slot.note_written();
    }
    for expected in [vec![1], vec![1, 2], vec![1, 2, 3], vec![0, 1, 2, 3]] {
        assert!(connections.evict_one());
        assert_eq!(evicted(&slots), expected);
    }
    assert!(!connections.evict_one());
}

#[tokio::test]
async fn answers_that_nobody_reads_hold_their_share_and_no_more() {
    let connections = Connections::new(8);
    let mut slots = Vec::new();
    for _ in 0..8 {
        slots.push(connections.enter().await);
    }
    for slot in &slots[..3] {
        answered(slot);
    }
    for slot in &slots[3..] {
        answered(slot);
        slot.note_written();
    }
    // Three are more than a quarter: the oldest is idle like the others, and older than they. Then two are a quarter.
    for expected in [vec![0], vec![0, 3], vec![0, 3, 4]] {
        assert!(connections.evict_one());
        assert_eq!(evicted(&slots), expected);
    }
    // One that is written is idle again, and has waited the longest.
    slots[1].note_written();
    for expected in [vec![0, 1, 3, 4], vec![0, 1, 3, 4, 5], vec![0, 1, 3, 4, 5, 6], vec![0, 1, 3, 4, 5, 6, 7]]
    {
        assert!(connections.evict_one());
        assert_eq!(evicted(&slots), expected);
    }
    // Whoever sends the next request meanwhile has begun it.
    let _turn = slots[2].begin().unwrap();
    assert!(!connections.evict_one());
}
