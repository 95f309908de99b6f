//! What the service looks for by itself among all merchants, in steps of SQLite's virtual machine: with 50,000
//! merchants, none of whom has what it looks for, it costs a few.

use authority_domain::Timestamp;

use super::large::{Large, MANY};
use crate::hand_off::Lease;
use crate::sql::endpoint::sealed::SealedOption;

/// Each limits how long orders may be pending, has an endpoint, and an open refund of test mode.
const FILL: [&str; 3] = [
    "INSERT INTO merchants (id, slug, status, body, created_at, updated_at) \
     SELECT 'mer_' || sequence, 'shop-' || sequence, 'active', \
         '{\"settings\": {\"pending_order_ttl_hours\": 48, \"sandbox_auto_advance\": false}}', 0, 0 FROM events",
    "INSERT INTO webhook_endpoints (id, merchant_id, livemode, url, enabled_events, status, api_version, secret_hint, \
         health_state, consecutive_failures, metadata, resource_version, created_sequence, created_at, updated_at) \
     SELECT 'we_' || sequence, 'mer_' || sequence, TRUE, 'https://example.com/', '[]', 'enabled', '2026-09-01', '', \
         'unknown', 0, '{}', 1, 1, 0, 0 FROM events",
    "UPDATE refunds SET merchant_id = 'mer_' || created_sequence, livemode = FALSE, status = 'requested'",
];

/// The most steps for what finds nothing.
const LITTLE: u64 = 300;

/// The most steps for an endpoint that waits for its next attempt.
const STEPS_EACH: u64 = 90;

#[tokio::test]
async fn merchants_without_pending_orders_are_not_looked_at() {
    let mut large = Large::with(&FILL).await;
    assert_eq!(large.tx.pending_limits().await.unwrap(), []);
    large.within(LITTLE);
    let pending =
        "UPDATE orders SET merchant_id = 'mer_7', status = 'pending' WHERE created_sequence % 100 = 0";
    large.execute(pending).await;
    large.steps();
    let limits = large.tx.pending_limits().await.unwrap();
    assert_eq!(limits.iter().map(|limit| limit.merchant_id.as_str()).collect::<Vec<_>>(), ["mer_7"]);
    large.within(LITTLE);
}

/// As many steps as there are merchants whose refunds move, or as there are merchants with open refunds.
#[tokio::test]
async fn refunds_that_do_not_move_are_not_looked_at() {
    let mut large = Large::with(&FILL).await;
    for (nobodys, changes) in [
        ("everybody has refunds", [].as_slice()),
        (
            "one merchant without",
            &["UPDATE merchants SET body = json_set(body, '$.settings.sandbox_auto_advance', \
             json('true')) WHERE id = 'mer'"],
        ),
        (
            "everybody's refunds move",
            &[
                "UPDATE refunds SET status = 'completed'",
                "UPDATE merchants SET body = \
             json_set(body, '$.settings.sandbox_auto_advance', json('true'))",
            ],
        ),
    ] {
        for change in changes {
            large.execute(change).await;
        }
        large.steps();
        assert_eq!(large.tx.refunds_moving_by_themselves(None, 100).await.unwrap(), [], "{nobodys}");
        large.within_of(LITTLE, &nobodys);
    }
}

#[tokio::test]
async fn endpoints_without_anything_sealed_are_not_looked_at() {
    let mut large = Large::with(&FILL).await;
    for option in SealedOption::ALL {
        assert_eq!(large.tx.sealed_options(option, None, 1).await.unwrap(), []);
        large.within_of(LITTLE, &option);
        assert_eq!(large.tx.option_sample(option, &[[1, 7]]).await.unwrap(), None);
        large.within_of(LITTLE, &option);
    }
}

/// Where every endpoint waits for its next attempt, a claim takes an index step or two for each and reads none of them.
#[tokio::test]
async fn a_claim_reads_no_endpoint_that_has_nothing_due() {
    let mut large = Large::with(&FILL).await;
    let waiting = "INSERT INTO deliveries (id, merchant_id, livemode, event_id, event_type, sequence, endpoint_id, \
             triggered_by, status, attempt_count, next_attempt_at, created_at, created_sequence) \
         SELECT 'dlv_' || sequence, 'mer_' || sequence, TRUE, id, type, sequence, 'we_' || sequence, 'event', 'pending', 1, \
             1000000, 1, 1 FROM events";
    for sql in ["DELETE FROM attempts", "DELETE FROM deliveries", waiting] {
        large.execute(sql).await;
    }
    let now = Timestamp::from_ms(60_000);
    let lease = Lease {
        limit: 256,
        max_in_flight: 128,
        each: 16,
        per_merchant: 256,
        ..Lease::unlimited("a".into(), now, now.plus_ms(60_000))
    };
    large.steps();
    assert_eq!(large.tx.delivery_lease_due(&lease).await.unwrap().len(), 0);
    let each = large.steps() / u64::try_from(MANY).unwrap();
    assert!(each < STEPS_EACH, "{each} steps for each endpoint");
}
