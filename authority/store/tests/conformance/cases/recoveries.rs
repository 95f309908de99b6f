//! Recoveries and the steps of their worker: contract 15.2.

use authority_domain::recovery::undelivered::Wanted;
use authority_domain::recovery::{Recovery, RecoveryStatus};
use authority_domain::{DeliveryId, DisabledReason, EndpointId, RecoveryId};
use authority_store::tx::{RecoveryBacklog, RecoveryJob, RecoveryStep, SettledAs, Stretch};

use super::retention::remove;
use super::{Database, Shop, ask, at, dice, done, noon, read, settlement};

fn new_job(shop: &Shop, endpoint: &EndpointId, stretch: Stretch) -> RecoveryJob {
    let recovery = Recovery {
        id: RecoveryId::generate(noon(), &mut dice()),
        endpoint_id: endpoint.clone(),
        livemode: shop.tenant.livemode,
        status: RecoveryStatus::Running,
        since: noon(),
        until: None,
        types: Some(vec!["checkout.*".to_owned()]),
        matched: 0,
        enqueued: 0,
        created_at: at(100),
        updated_at: at(100),
        finished_at: None,
    };
    let (counted_to, walked_to) = (stretch.above, stretch.above);
    RecoveryJob { recovery, tenant: shop.tenant.clone(), stretch, counted_to, walked_to }
}

pub(crate) async fn begin(shop: &Shop, endpoint: &EndpointId, stretch: Stretch) -> RecoveryJob {
    let made = new_job(shop, endpoint, stretch);
    done!(shop, [made], |tx| tx.recovery_insert(&made));
    made
}

async fn running(shop: &Shop) -> Vec<RecoveryJob> {
    read!(shop, |tx| tx.recoveries_running(None, 9))
}

async fn get(shop: &Shop, id: &RecoveryId) -> Option<Recovery> {
    read!(shop, [id], |tx| tx.recovery_get(&shop.tenant, &id))
}

/// A step over `limit` of what is missing.
async fn found(shop: &Shop, recovery: &RecoveryJob, limit: i64) -> RecoveryStep {
    let missed = ask!(shop.store.read, [recovery], |tx| async {
        let stretch = Stretch { above: recovery.walked_to, below: recovery.stretch.below };
        let wanted = Wanted::of(&["*".to_owned()], &[]);
        tx.undelivered_oldest(&recovery.tenant, &recovery.recovery.endpoint_id, &wanted, stretch, limit).await
    });
    let missed: Vec<_> = missed
        .unwrap()
        .into_iter()
        .map(|missed| (DeliveryId::generate(at(200), &mut dice()), missed))
        .collect();
    let walked_to = missed.last().map_or(recovery.stretch.below - 1, |(_, missed)| missed.sequence);
    RecoveryStep { job: recovery.clone(), missed, walked_to }
}

async fn take(shop: &Shop, step: &RecoveryStep) -> Option<i64> {
    done!(shop, [step], |tx| tx.recovery_step(&step, at(200)))
}

pub(crate) async fn a_step_is_taken_once(shop: Shop, database: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    shop.open_checkouts(3).await;
    let taken = shop.lease("a", noon(), 9, 9).await;
    let failed = |n: usize| settlement(&taken[n], "a", SettledAs::Failed { reason: "rejected" });
    shop.settle(vec![failed(0), failed(1), failed(2)]).await;
    let begun = begin(&shop, &id, Stretch { above: 0, below: 4 }).await;
    assert_eq!(running(&shop).await, std::slice::from_ref(&begun));
    for expected in [true, false] {
        let counted = done!(shop, [begun], |tx| tx.recovery_counted(&begun, 3, 3, at(150)));
        assert_eq!(counted, expected, "two instances count the same");
    }
    let begun = running(&shop).await.remove(0);
    assert_eq!((begun.counted_to, begun.recovery.matched), (3, 3));
    // Two instances found the same; one of the events arrived meanwhile.
    let (ours, theirs) = (found(&shop, &begun, 2).await, found(&shop, &begun, 2).await);
    let arrives = format!("UPDATE deliveries SET status = 'succeeded' WHERE id = '{}'", taken[1].id);
    assert_eq!(database.execute(&arrives).await, Ok(1));
    assert_eq!((take(&shop, &ours).await, take(&shop, &theirs).await), (Some(1), None));
    let on = running(&shop).await.remove(0);
    assert_eq!((on.walked_to, on.recovery.enqueued, on.recovery.remaining()), (2, 1, 2));
    let last = found(&shop, &on, 9).await;
    assert_eq!((take(&shop, &last).await, take(&shop, &last).await), (Some(1), None));
    assert!(running(&shop).await.is_empty());
    let done = get(&shop, &begun.recovery.id).await.unwrap();
    assert_eq!(
        (done.status, done.matched, done.enqueued, done.finished_at),
        (RecoveryStatus::Completed, 2, 2, Some(at(200)))
    );
    let places = format!(
        "SELECT MIN(created_sequence) * 100 + MAX(created_sequence) FROM deliveries WHERE recovery_id = '{}'",
        begun.recovery.id
    );
    assert_eq!(database.number(&places).await, 405, "behind the three that were made with the events");
    // The database refuses a second delivery of an event by one recovery.
    let twice =
        format!("UPDATE deliveries SET recovery_id = '{}' WHERE id = '{}'", begun.recovery.id, taken[0].id);
    assert!(database.execute(&twice).await.is_err());
    for stranger in [Shop::new(&shop.store, "other").await, shop.in_test_mode()] {
        assert_eq!(get(&stranger, &begun.recovery.id).await, None);
    }
}

pub(crate) async fn what_waits_is_replaced_and_what_is_in_flight_is_not(shop: Shop, database: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    shop.open_checkouts(2).await;
    // One is being sent when the step is taken: its lease holds until then.
    let taken = shop.lease("a", at(190), 1, 9).await;
    let begun = begin(&shop, &id, Stretch { above: 0, below: 3 }).await;
    let step = found(&shop, &begun, 9).await;
    assert_eq!(take(&shop, &step).await, Some(2));
    let with = |status: &str, trigger: &str| {
        format!("SELECT COUNT(*) FROM deliveries WHERE status = '{status}' AND triggered_by = '{trigger}'")
    };
    assert_eq!(database.number(&with("pending", "event")).await, 1);
    assert_eq!(database.number(&with("cancelled", "event")).await, 1);
    assert_eq!(database.number(&with("pending", "recovery")).await, 2);
    assert_eq!(shop.settle(vec![settlement(&taken[0], "a", SettledAs::Succeeded)]).await, 1);
    let backlog = async |s: i64, limit: i64| -> RecoveryBacklog {
        read!(shop, [id], |tx| tx.recovery_backlog(&shop.tenant, &id, at(s), limit))
    };
    assert_eq!(backlog(200, 9).await, RecoveryBacklog { waiting: 2, due: 2 });
    assert_eq!(backlog(199, 9).await, RecoveryBacklog { waiting: 2, due: 0 });
    assert_eq!(backlog(200, 1).await, RecoveryBacklog { waiting: 1, due: 1 });
}

/// The retention may remove an event between the reading of a step and its writing. A delivery of it would be leased
/// over and over, and never be sent.
pub(crate) async fn nothing_is_made_of_an_event_that_is_gone(shop: Shop, database: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    shop.open_checkouts(2).await;
    let taken = shop.lease("a", noon(), 9, 9).await;
    let failed = |n: usize| settlement(&taken[n], "a", SettledAs::Failed { reason: "rejected" });
    shop.settle(vec![failed(0), failed(1)]).await;
    let begun = begin(&shop, &id, Stretch { above: 0, below: 3 }).await;
    let step = found(&shop, &begun, 9).await;
    assert_eq!(step.missed.len(), 2);
    assert_eq!(remove(&shop, 1, 1).await, 1);
    assert_eq!(take(&shop, &step).await, Some(1));
    assert_eq!(database.count("deliveries WHERE status = 'pending'").await, 1);
    let again: Vec<_> = shop.lease("b", at(200), 9, 9).await.into_iter().map(|sent| sent.event_id).collect();
    assert_eq!(again, [step.missed[1].1.event_id.clone()]);
    let ended = get(&shop, &begun.recovery.id).await.unwrap();
    assert_eq!((ended.status, ended.matched, ended.enqueued), (RecoveryStatus::Completed, 1, 1));
}

pub(crate) async fn a_recovery_ends_once(shop: Shop, _: &dyn Database) {
    let (id, other) = (shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await);
    shop.open_checkout().await;
    let stretch = Stretch { above: 0, below: 2 };
    let (first, kept) = (begin(&shop, &id, stretch).await, begin(&shop, &other, stretch).await);
    let cancel = async |shop: &Shop, id: &RecoveryId| -> bool {
        done!(shop, [id], |tx| tx.recovery_cancel(&shop.tenant, &id, at(300)))
    };
    let run = async |shop: &Shop, limit: i64| -> Vec<RecoveryId> {
        let found =
            ask!(shop.store.read, [shop, id], |tx| tx.recoveries_running_for(&shop.tenant, &id, limit));
        found.unwrap().into_iter().map(|recovery| recovery.id).collect()
    };
    let stranger = Shop::new(&shop.store, "other").await;
    for nobody in [&stranger, &shop.in_test_mode()] {
        assert!(run(nobody, 9).await.is_empty());
    }
    assert_eq!(run(&shop, 9).await, std::slice::from_ref(&first.recovery.id), "of this endpoint alone");
    assert!(!cancel(&stranger, &first.recovery.id).await);
    assert!(cancel(&shop, &first.recovery.id).await);
    assert!(!cancel(&shop, &first.recovery.id).await);
    let step = found(&shop, &first, 9).await;
    assert_eq!(take(&shop, &step).await, None, "it has ended");
    assert!(run(&shop, 9).await.is_empty());
    // Whoever switches an endpoint off ends its recoveries, and only those that run.
    let (second, third) = (begin(&shop, &id, stretch).await, begin(&shop, &other, stretch).await);
    let seven = authority_domain::time::Timestamp::from_ms(7);
    assert!(done!(shop, [id], |tx| tx.endpoint_disable(&id, DisabledReason::Gone, seven)));
    done!(shop, [other], |tx| tx.endpoint_delete(&shop.tenant, &other, 1, at(400)));
    let mut ends = Vec::new();
    for made in [&first, &second, &third, &kept] {
        let now = get(&shop, &made.recovery.id).await.unwrap();
        ends.push((now.status, now.finished_at.unwrap()));
    }
    let expected = [
        (RecoveryStatus::Cancelled, at(300)),
        (RecoveryStatus::EndpointDisabled, seven),
        (RecoveryStatus::EndpointDeleted, at(400)),
        (RecoveryStatus::EndpointDeleted, at(400)),
    ];
    assert_eq!(ends, expected);
}

pub(crate) async fn recoveries_that_have_ended_come_newest_first(shop: Shop, _: &dyn Database) {
    let (id, other) = (shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await);
    let mut made = Vec::new();
    for (s, endpoint) in [(1, &id), (2, &other), (3, &id), (4, &id), (5, &id)] {
        let mut job = new_job(&shop, endpoint, Stretch { above: 0, below: 2 });
        job.recovery.id = RecoveryId::generate(at(s), &mut dice());
        done!(shop, [job], |tx| tx.recovery_insert(&job));
        made.push(job.recovery.id);
    }
    // The newest goes on.
    for ended in &made[..4] {
        assert!(done!(shop, [ended], |tx| tx.recovery_cancel(&shop.tenant, &ended, at(300))));
    }
    let page = async |shop: &Shop, before: Option<&RecoveryId>, limit: i64| -> Vec<RecoveryId> {
        let before = before.map(RecoveryId::to_string);
        let found =
            read!(shop, [id], |tx| tx.recoveries_ended_page(&shop.tenant, &id, before.as_deref(), limit));
        found.into_iter().map(|recovery| recovery.id).collect()
    };
    let [first, second, third, running] = [0, 2, 3, 4].map(|n: usize| made[n].clone());
    assert_eq!(page(&shop, None, 9).await, [third.clone(), second.clone(), first.clone()]);
    assert_eq!(page(&shop, None, 2).await, [third.clone(), second.clone()]);
    assert_eq!(page(&shop, Some(&running), 1).await, std::slice::from_ref(&third));
    assert_eq!(page(&shop, Some(&third), 1).await, std::slice::from_ref(&second));
    assert_eq!(page(&shop, Some(&second), 9).await, [first]);
    for nobody in [Shop::new(&shop.store, "other").await, shop.in_test_mode()] {
        assert!(page(&nobody, None, 9).await.is_empty());
    }
}
