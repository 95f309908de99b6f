//! The cost of leases, of lists and figures of deliveries, and of what is missing, beside a large history.

use authority_domain::list_filter::DeliveryFilter;
use authority_domain::recovery::undelivered::Wanted;
use authority_domain::{DeliveryStatus, EndpointId, EventId, RecoveryId, Timestamp};

use super::DIALECT;
use super::large::{Large, MANY, tenant};
use crate::hand_off::Lease;
use crate::sql::endpoint::undelivered::Stretch;

#[tokio::test]
async fn a_lease_reads_only_what_it_takes() {
    let mut large = Large::new().await;
    let plan = large.plan(DIALECT.lease_due).await;
    assert!(
        plan.contains("USING INDEX deliveries_due (shard=? AND endpoint_id=? AND next_attempt_at<?)"),
        "{plan}"
    );
    assert!(plan.contains("INDEX deliveries_leased (shard=? AND endpoint_id=? AND lease_until>?)"), "{plan}");
    for table in ["deliveries", "d", "w", "l"] {
        assert!(!plan.contains(&format!("SCAN {table}\n")), "{plan}");
    }
    let now = Timestamp::from_ms(60_000);
    let mut lease = Lease {
        limit: 256,
        max_in_flight: 8,
        each: 16,
        per_merchant: 64,
        ..Lease::unlimited("a".into(), now, now.plus_ms(60_000))
    };
    large.steps();
    let taken = large.tx.delivery_lease_due(&lease).await.unwrap();
    assert_eq!(taken.len(), 13, "8 for the dead endpoint, 5 for the live one");
    large.within(7_000);
    // Nothing more may be taken: the cap of the one is reached, the other has nothing left.
    lease.token = "b".into();
    assert_eq!(large.tx.delivery_lease_due(&lease).await.unwrap().len(), 0);
    large.within(2_500);
    assert_eq!(large.tx.delivery_lease_release_all().await.unwrap(), 13);
    large.within(2_500);
}

#[tokio::test]
async fn a_page_of_deliveries_reads_only_what_it_shows() {
    let mut large = Large::new().await;
    let none = DeliveryFilter::default;
    let endpoint = EndpointId::from_store("live".to_owned());
    for (filter, before, expected) in [
        (none(), None, 101),
        (none(), Some(MANY / 2), 101),
        (DeliveryFilter { status: vec![DeliveryStatus::Succeeded], ..none() }, Some(MANY / 2), 101),
        (DeliveryFilter { event_id: Some("evt_7".into()), ..none() }, None, 1),
    ] {
        large.steps();
        let page = large.tx.deliveries_page(&tenant(), &endpoint, &filter, before, 101).await.unwrap().rows;
        assert_eq!(page.len(), expected, "{filter:?}");
        large.within_of(5_000, &filter);
    }
}

#[tokio::test]
async fn an_event_and_what_became_of_it_are_found_by_themselves() {
    let mut large = Large::new().await;
    let event = EventId::from_store("evt_40007".to_owned());
    large.steps();
    assert_eq!(large.tx.event_body(&tenant(), &event).await.unwrap().as_deref(), Some("{}"));
    let found = large.tx.deliveries_of_events(&tenant(), &[event], 101).await.unwrap();
    assert_eq!(found.len(), 3);
    large.within(1_000);
}

#[tokio::test]
async fn the_figures_of_health_cost_the_same_beside_what_is_finished() {
    let mut large = Large::new().await;
    large.execute("DELETE FROM deliveries WHERE endpoint_id = 'dead' AND status = 'pending'").await;
    let counted = "INSERT INTO endpoint_figures (endpoint_id, since, attempts, failed_attempts, failed_deliveries) \
         VALUES ('live', 172800000, 100, 0, 0)";
    large.execute(counted).await;
    large.steps();
    let (now, since) = (Timestamp::from_ms(200_000_000), Timestamp::from_ms(100_000_000));
    let figures = large.tx.endpoint_figures(&tenant(), now, since, 50).await.unwrap();
    let live = &figures[&EndpointId::from_store("live".to_owned())];
    assert_eq!((live.pending, live.attempts, live.durations_ms.len()), (5, 100, 50));
    large.within(5_000);
}

/// What was sent in a day is counted from the rows for all endpoints, not from those of each.
#[tokio::test]
async fn the_figures_of_all_endpoints_cost_the_same_beside_many_endpoints() {
    let mut large = Large::new().await;
    let counted = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
         INSERT INTO endpoint_figures (endpoint_id, since, attempts, failed_attempts, failed_deliveries) \
         SELECT 'we_' || i, 172800000, 1, 0, 0 FROM n UNION ALL SELECT 'shard', 172800000, 20000, 3, 2";
    large.execute(counted).await;
    large.steps();
    let since = Timestamp::from_ms(100_000_000);
    assert_eq!(large.tx.counted_since(None, since).await.unwrap(), (20_000, 3, 2));
    large.within(5_000);
}

/// A window of the stream costs as much as it holds, whether everything in the history has arrived or nothing has; a
/// time is found by binary search.
#[tokio::test]
async fn what_is_missing_is_looked_for_where_it_is_asked() {
    let mut large = Large::new().await;
    let wanted =
        [Wanted::of(&["*".to_owned()], &[]), Wanted { names: Some(vec!["order.shipped"]), tests: true }];
    for endpoint in ["live", "idle"].map(|id| EndpointId::from_store(id.to_owned())) {
        for wanted in &wanted {
            let stretch = Stretch { above: MANY - 1_000, below: MANY };
            large.steps();
            let count = large.tx.undelivered_count(&tenant(), &endpoint, wanted, stretch).await.unwrap();
            let page = large.tx.undelivered_page(&tenant(), &endpoint, wanted, stretch, 101).await.unwrap();
            let next = large.tx.undelivered_oldest(&tenant(), &endpoint, wanted, stretch, 64).await.unwrap();
            let expected = match (endpoint.as_str(), &wanted.names) {
                ("idle", None) => (999, 101, 64),
                _ => (0, 0, 0),
            };
            assert_eq!((count, page.len(), next.len()), expected);
            large.within_of(150_000, &format!("{endpoint} {wanted:?}"));
        }
    }
    let counter = "INSERT INTO streams (merchant_id, livemode, last_sequence, last_created_at) \
         VALUES ('mer', TRUE, 50000, 50000)";
    large.execute(counter).await;
    large.steps();
    let place = large.tx.sequence_at(&tenant(), Timestamp::from_ms(MANY / 3)).await.unwrap();
    assert_eq!(place, MANY / 3);
    large.within(2_000);
}

/// A backlog is counted up to its limit and no further.
#[tokio::test]
async fn the_figures_of_a_backlog_stop_counting() {
    let mut large = Large::new().await;
    let now = Timestamp::from_ms(100_000);
    let figures = large.tx.endpoint_figures(&tenant(), now, now, 50).await.unwrap();
    let dead = &figures[&EndpointId::from_store("dead".to_owned())];
    assert_eq!((dead.pending, dead.due, dead.first_due_at), (10_000, 10_000, Some(Timestamp::from_ms(1))));
    let queue = large.tx.queue_figures(now).await.unwrap();
    assert_eq!(
        (queue.pending, queue.due, queue.oldest_due_at),
        (10_005, 10_005, Some(Timestamp::from_ms(1)))
    );
    let outbox = large.tx.outbox(now, 9).await.unwrap();
    let figures = outbox.figures;
    assert_eq!((figures.pending, figures.due), (10_005, 10_005));
    let told: Vec<_> =
        outbox.endpoints.iter().map(|of| (of.endpoint_id.as_str(), of.pending, of.due)).collect();
    assert_eq!(told, [("dead", 10_000, 10_000), ("live", 5, 5)]);
}

/// Beside 50,000 recoveries of another endpoint, and of its own.
#[tokio::test]
async fn a_page_of_recoveries_reads_only_what_it_shows() {
    let many = "INSERT INTO endpoint_recoveries (id, merchant_id, livemode, endpoint_id, status, since, after_sequence, \
         last_sequence, counted_to, walked_to, matched, enqueued, created_at, updated_at, finished_at) \
         SELECT printf('rcv_%06d', sequence), 'mer', TRUE, CASE WHEN sequence <= 3 THEN 'idle' ELSE 'live' END, \
         'completed', 0, 0, 1, 1, 1, 0, 0, 0, 0, 0 FROM events";
    let mut large = Large::with(&[many]).await;
    for (endpoint, before, expected) in
        [("idle", None, 3), ("dead", None, 0), ("live", None, 26), ("live", Some("rcv_025000"), 26)]
    {
        large.steps();
        let id = EndpointId::from_store(endpoint.to_owned());
        let page = large.tx.recoveries_ended_page(&tenant(), &id, before, 26).await.unwrap();
        assert_eq!(page.len(), expected, "{endpoint} {before:?}");
        large.within_of(2_500, &(endpoint, before));
        // Those that have ended cost nothing where it is asked for those that run, once a second for a page.
        assert!(large.tx.recoveries_running_for(&tenant(), &id, 26).await.unwrap().is_empty());
        large.within_of(500, &(endpoint, "running"));
        let behind = (&id, &RecoveryId::from_store("rcv_000001".to_owned()));
        for after in [None, Some(behind)] {
            assert!(large.tx.recoveries_running(after, 100).await.unwrap().is_empty());
            large.within_of(500, &(endpoint, "running anywhere"));
        }
    }
    assert!(!large.tx.tenant_mark(&tenant()).await.unwrap().is_empty());
    large.within_of(5_000, &"the mark of change");
}
