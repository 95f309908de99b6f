//! What the service looks for by itself among all merchants, in rows that PostgreSQL reads: with 50,000 merchants, none
//! of whom has what it looks for, it reads a few.

use super::operator_plans::connected;
use crate::driver::query;
use crate::sql::Tx;
use crate::sql::endpoint::sealed::SealedOption;

/// Each limits how long orders may be pending, has an endpoint, and an open refund of test mode.
const FILL: [&str; 5] = [
    "INSERT INTO merchants (id, slug, status, body, created_at, updated_at) \
     SELECT 'mer_' || n, 'shop-' || n, 'active', \
         '{\"settings\": {\"pending_order_ttl_hours\": 48, \"sandbox_auto_advance\": false}}', 0, 0 \
     FROM generate_series(1, 50000) n",
    "INSERT INTO webhook_endpoints (shard, id, merchant_id, livemode, url, enabled_events, status, api_version, secret_hint, \
         health_state, consecutive_failures, metadata, resource_version, created_sequence, created_at, updated_at) \
     SELECT shard_of('mer_' || n), 'we_' || n, 'mer_' || n, TRUE, 'https://example.com/', '[]', 'enabled', '2026-09-01', '', 'unknown', 0, '{}', \
         1, 1, 0, 0 FROM generate_series(1, 50000) n",
    "INSERT INTO payments (shard, id, merchant_id, livemode, status, currency, amount, amount_authorized, amount_captured, \
         amount_refunded, resource_version, created_sequence, created_at, body) \
     SELECT shard_of('mer_' || n), 'pay_' || n, 'mer_' || n, FALSE, 'succeeded', 'USD', 1, 1, 1, 0, 1, 1, 1, '{}' \
     FROM generate_series(1, 50000) n",
    "INSERT INTO refunds (shard, id, merchant_id, livemode, payment_id, status, amount, resource_version, created_sequence, \
         created_at, body) \
     SELECT shard_of('mer_' || n), 'rfd_' || n, 'mer_' || n, FALSE, 'pay_' || n, 'requested', 1, 1, 1, 1, '{}' \
     FROM generate_series(1, 50000) n",
    "VACUUM ANALYZE",
];

/// The most entries of indexes and rows of tables that a look reads.
const LITTLE: i64 = 30;

async fn filled() -> Tx {
    let mut tx = connected().await;
    for sql in FILL {
        query(sql).write(&mut tx.conn).await.unwrap();
    }
    tx
}

/// What this connection has read and not reported yet.
async fn read(tx: &mut Tx) -> i64 {
    let read = "SELECT CAST(SUM(seq_tup_read + COALESCE(idx_tup_fetch, 0)) AS BIGINT) \
         + (SELECT CAST(SUM(pg_stat_get_xact_tuples_returned(indexrelid)) AS BIGINT) FROM pg_index \
            WHERE indrelid IN ('merchants'::regclass, 'orders'::regclass, 'refunds'::regclass, \
                'webhook_endpoints'::regclass)) \
         FROM pg_stat_xact_user_tables WHERE relname IN ('merchants', 'orders', 'refunds', 'webhook_endpoints')";
    query(read).read_one(&mut tx.conn).await.unwrap()
}

#[tokio::test]
async fn merchants_that_have_nothing_to_do_are_not_looked_at() {
    let mut tx = filled().await;
    for nobodys in ["everybody has refunds", "everybody's refunds move"] {
        // In one transaction: at its end the server would take the counts away.
        query("BEGIN").write(&mut tx.conn).await.unwrap();
        let before = read(&mut tx).await;
        assert_eq!(tx.pending_limits().await.unwrap(), []);
        assert_eq!(tx.refunds_moving_by_themselves(None, 100).await.unwrap(), []);
        for option in SealedOption::ALL {
            assert_eq!(tx.sealed_options(option, None, 1).await.unwrap(), []);
            assert_eq!(tx.option_sample(option, &[[1, 7]]).await.unwrap(), None);
        }
        let read = read(&mut tx).await - before;
        assert!(read <= LITTLE, "{nobodys}: {read} read");
        for sql in [
            "COMMIT",
            "UPDATE refunds SET status = 'completed'",
            "UPDATE merchants SET body = replace(body, 'advance\": false', 'advance\": true')",
            "VACUUM ANALYZE",
        ] {
            query(sql).write(&mut tx.conn).await.unwrap();
        }
    }
}
