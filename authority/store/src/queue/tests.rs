//! Which jobs share a batch, which wait, and for whom.

use futures_util::FutureExt;

use super::*;
use crate::error::StoreError;
use crate::shards::Turns;

/// A job that never runs: only its turns matter here.
fn job_with(turns: Turns) -> Job {
    Job::repeatable(|_| Box::pin(async { Ok::<(), StoreError>(()) }), turns, None, None).0
}

/// The set of these shards.
fn shards(numbers: &[u32]) -> ShardSet {
    numbers.iter().fold(ShardSet::NONE, |all, number| all.or(ShardSet::one(*number)))
}

fn need(numbers: &[u32]) -> Turns {
    Turns::each(shards(numbers))
}

fn queue(jobs: &[Turns]) -> Queue {
    let queue = Queue::new(1);
    submit(&queue, jobs);
    queue
}

fn submit(queue: &Queue, jobs: &[Turns]) {
    for turns in jobs {
        queue.submit(job_with(*turns)).now_or_never().unwrap().unwrap();
    }
}

/// The next batch: the turns of its jobs, the turns it takes, and whether it waits for them.
fn next(queue: &Queue) -> Option<(Vec<Turns>, ShardSet, bool)> {
    let batch = queue.next().now_or_never()??;
    Some((turns_of(&batch.jobs), batch.turns, batch.wait))
}

fn turns_of(jobs: &VecDeque<Counted>) -> Vec<Turns> {
    jobs.iter().map(|job| job.job.turns).collect()
}

#[test]
fn jobs_of_free_shards_share_a_batch_and_others_wait_for_the_release() {
    let queue = queue(&[need(&[1]), need(&[2]), need(&[1]), Turns::NONE]);
    let all = vec![need(&[1]), need(&[2]), need(&[1]), Turns::NONE];
    assert_eq!(next(&queue), Some((all, shards(&[1, 2]), false)));
    submit(&queue, &[need(&[2, 3]), need(&[4])]);
    assert_eq!(next(&queue), Some((vec![need(&[4])], shards(&[4]), false)));
    assert_eq!(next(&queue), None);
    queue.release(shards(&[1, 2]));
    assert_eq!(next(&queue), Some((vec![need(&[2, 3])], shards(&[2, 3]), false)));
    assert_eq!(queue.unanswered(), 0, "the batches were dropped");
}

#[test]
fn who_waits_is_not_overtaken_on_its_shards() {
    let waiting = queue(&[need(&[1])]);
    let held = next(&waiting).unwrap().1;
    submit(&waiting, &[need(&[1, 2]), need(&[2]), need(&[3]), Turns::ALL, need(&[4])]);
    assert_eq!(
        next(&waiting),
        Some((vec![need(&[3])], shards(&[3]), false)),
        "4 comes after the job for all"
    );
    waiting.release(held);
    waiting.release(shards(&[3]));
    let rest = vec![need(&[1, 2]), need(&[2]), Turns::ALL, need(&[4])];
    assert_eq!(next(&waiting), Some((rest, ShardSet::ALL, false)), "together, in their order");
}

#[test]
fn a_job_that_does_what_it_can_takes_the_free_part_of_its_shards() {
    let queue = queue(&[need(&[1])]);
    next(&queue).unwrap();
    let some = Turns::some_of(shards(&[1, 2, 3]));
    let none = Turns::some_of(shards(&[1]));
    submit(&queue, &[none, some]);
    assert_eq!(next(&queue), Some((vec![some], shards(&[2, 3]), false)));
    assert_eq!(next(&queue), None, "nothing of the other one's is free");
    queue.release(shards(&[1]));
    assert_eq!(next(&queue), Some((vec![none], shards(&[1]), false)));
}

/// What others wait for does not stand behind a shard that is waited for.
#[test]
fn a_job_that_goes_at_once_runs_with_no_turn_where_none_is_free() {
    let queue = queue(&[need(&[1])]);
    next(&queue).unwrap();
    let (none, some) = (Turns::at_once(shards(&[1])), Turns::at_once(shards(&[1, 2])));
    submit(&queue, &[none]);
    assert_eq!(next(&queue), Some((vec![none], ShardSet::NONE, false)));
    submit(&queue, &[need(&[1, 3]), none, some, Turns::some_of(shards(&[3]))]);
    assert_eq!(next(&queue), Some((vec![none, some], shards(&[2]), false)));
    assert_eq!(next(&queue), None, "3 is reserved, and the last one stands for it");
}

#[test]
fn a_batch_waits_for_turns_that_another_instance_holds_and_for_nothing_else() {
    let queue = queue(&[need(&[1]), need(&[2]), need(&[1]), need(&[3])]);
    let batch = queue.next().now_or_never().unwrap().unwrap();
    // The turns of 1 and 2 were not to be had.
    let back = batch.jobs.into_iter().take(3).collect();
    queue.put_back(back, shards(&[1, 2]));
    queue.release(shards(&[1, 2, 3]));
    assert_eq!(next(&queue), Some((vec![need(&[1]), need(&[1])], shards(&[1]), true)));
    assert_eq!(next(&queue), None, "one batch may wait at a time, and it does");
    queue.waited();
    assert_eq!(next(&queue), Some((vec![need(&[2])], shards(&[2]), true)));
}

/// When the wait is in vain there is no transaction, so nobody may be in the batch who would run without the turns.
#[test]
fn who_can_go_on_without_a_turn_does_not_wait_for_it() {
    let some = Turns::some_of(shards(&[1]));
    let queue = queue(&[need(&[1]), some, Turns::NONE]);
    let batch = queue.next().now_or_never().unwrap().unwrap();
    queue.put_back(batch.jobs.into(), shards(&[1]));
    queue.release(shards(&[1]));
    assert_eq!(next(&queue), Some((vec![need(&[1])], shards(&[1]), true)));
    assert_eq!(next(&queue), Some((vec![Turns::NONE], ShardSet::NONE, false)));
    assert_eq!(next(&queue), None);
}

/// Two instances write the same row of no shard: the one must not wait for the merchants of the other's transaction.
#[test]
fn what_is_no_shards_is_written_apart() {
    let queue = Queue::new(2);
    submit(&queue, &[need(&[1]), Turns::NONE, need(&[2]), Turns::NONE, Turns::some_of(shards(&[3]))]);
    let of_shards = vec![need(&[1]), need(&[2]), Turns::some_of(shards(&[3]))];
    assert_eq!(next(&queue), Some((of_shards, shards(&[1, 2, 3]), false)));
    submit(&queue, &[need(&[4])]);
    assert_eq!(next(&queue), Some((vec![Turns::NONE, Turns::NONE], ShardSet::NONE, false)));
    assert_eq!(next(&queue), Some((vec![need(&[4])], shards(&[4]), false)));
}

#[test]
fn a_transaction_is_joined_by_jobs_of_its_shards_in_their_order() {
    let queue = queue(&[need(&[1]), need(&[2]), need(&[1, 3]), need(&[1]), need(&[2]), Turns::NONE]);
    let joined = turns_of(&queue.more(shards(&[1, 2]), 3));
    assert_eq!(
        joined,
        [need(&[1]), need(&[2]), need(&[2])],
        "the second job of 1 comes after that of 1 and 3"
    );
    assert_eq!(turns_of(&queue.more(shards(&[1, 2]), 3)), [Turns::NONE]);
}

#[test]
fn a_closed_queue_gives_out_what_it_has_and_takes_nothing() {
    let queue = queue(&[need(&[1])]);
    queue.close();
    assert!(queue.submit(job_with(Turns::NONE)).now_or_never().unwrap().is_err());
    assert_eq!(next(&queue), Some((vec![need(&[1])], shards(&[1]), false)));
    assert!(queue.next().now_or_never().unwrap().is_none());
}

#[test]
fn a_full_queue_lets_senders_wait() {
    let queue = queue(&vec![need(&[1]); QUEUE_MAX]);
    let mut next_one = Box::pin(queue.submit(job_with(need(&[2]))));
    assert!((&mut next_one).now_or_never().is_none());
    let batch = queue.next().now_or_never().unwrap().unwrap();
    assert_eq!(batch.jobs.len(), BATCH_MAX);
    next_one.now_or_never().unwrap().unwrap();
    assert_eq!(queue.unanswered(), QUEUE_MAX + 1);
}

#[test]
fn who_has_waited_takes_along_what_nobody_has_taken() {
    let queue = queue(&[need(&[1]), need(&[2])]);
    let first = queue.next().now_or_never().unwrap().unwrap();
    // Another instance holds both.
    queue.put_back(first.jobs.into(), first.turns);
    queue.release(first.turns);
    assert_eq!(next(&queue), Some((vec![need(&[1])], shards(&[1]), true)));
    submit(&queue, &[need(&[1]), need(&[2, 3]), need(&[3]), need(&[1, 4]), Turns::NONE]);
    let also = queue.also(shards(&[1]), 2);
    assert_eq!((turns_of(&also.jobs), also.turns), (vec![need(&[2]), need(&[2, 3])], shards(&[2, 3])));
    queue.release(shards(&[1]));
    // Those of the same shards come after, and 2 is contended no more.
    assert_eq!(next(&queue), Some((vec![need(&[1]), need(&[1, 4]), Turns::NONE], shards(&[1, 4]), false)));
    queue.release(shards(&[2, 3]));
    assert_eq!(next(&queue), Some((vec![need(&[3])], shards(&[3]), false)));
}

/// Where everybody waits for a turn it is never free: it has to be shared by who holds it, behind a full batch too.
#[test]
fn who_has_waited_takes_along_what_makes_do_with_its_turn() {
    let queue = queue(&[need(&[1])]);
    let first = queue.next().now_or_never().unwrap().unwrap();
    queue.put_back(first.jobs.into(), first.turns);
    queue.release(first.turns);
    let (some, other) = (Turns::some_of(shards(&[1, 2, 3])), Turns::some_of(shards(&[4])));
    // The first of them waits for the other two, and has reserved 1 and 2.
    assert_eq!(next(&queue), Some((vec![need(&[1])], shards(&[1]), true)));
    submit(&queue, &[need(&[1, 2]), some, other]);
    let also = queue.also(shards(&[1]), 0);
    assert_eq!((turns_of(&also.jobs), also.turns), (vec![some], shards(&[3])));
    assert_eq!(next(&queue), Some((vec![other], shards(&[4]), false)));
}

/// A worker for which the server has no connection left: the others get its jobs, in their order, and one of them never
/// rests.
#[tokio::test]
async fn what_is_handed_back_is_the_other_workers() {
    let queue = Queue::new(2);
    submit(&queue, &[need(&[1]), need(&[2])]);
    let first = queue.next().await.unwrap();
    // Another instance holds both.
    queue.put_back(first.jobs.into(), first.turns);
    queue.release(first.turns);
    let mut waiting = queue.next().await.unwrap();
    assert_eq!((waiting.turns, waiting.wait), (shards(&[1]), true));
    queue.waited();
    assert!(queue.hand_back(&mut waiting));
    queue.release(waiting.turns);
    let mut again = queue.next().await.unwrap();
    assert_eq!((turns_of(&again.jobs), again.turns, again.wait), (vec![need(&[1])], shards(&[1]), true));
    queue.waited();
    assert!(!queue.hand_back(&mut again), "the last one goes on");
    assert!(queue.rest(Duration::ZERO).await);
    assert!(queue.hand_back(&mut again), "the first one is back");
    let mut resting = Box::pin(queue.rest(Duration::MAX));
    assert_eq!((&mut resting).now_or_never(), None);
    queue.close();
    assert_eq!(resting.now_or_never(), Some(false));
    queue.release(again.turns);
    let mut last = queue.next().await.unwrap();
    assert!(!queue.hand_back(&mut last), "nobody rests at the end");
}
