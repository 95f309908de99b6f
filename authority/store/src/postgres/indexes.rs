//! Indexes of tables that grow, built after the migrations and beside the writes of running instances.
//!
//! `CREATE INDEX` in a migration would keep every write of its table waiting while it reads the whole table: about ten
//! seconds for a million payments. `CONCURRENTLY` does not, but runs in no transaction. One that is cut off leaves an
//! index that is maintained and serves nothing; the next migration drops it and builds it anew. One process builds at a
//! time. It asks for the lock again and again instead of waiting for it: a statement that waits would itself be waited
//! for by the one that builds.
//!
//! Deliberately absent: unique indexes, and any rule that needs an index. What is here makes reads quick.

use std::time::Duration;

use sqlx::{AssertSqlSafe, PgConnection};

use crate::error::Result;

/// What makes the lock this module's own.
const LOCK: i64 = 0x6175_7468_6f72_6978;

const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// Name, and what follows `ON`: what the console's search finds records by, over all merchants, the endpoints that its
/// first page shows, the deliveries that were given up, the recoveries that have ended, and what the service looks for
/// by itself among all merchants: refunds that move, and at its start what is sealed for endpoints.
const INDEXES: [(&str, &str); 14] = [
    ("orders_by_number", "orders (order_number)"),
    ("orders_by_customer_reference", "orders (customer_reference) WHERE customer_reference IS NOT NULL"),
    (
        "subscriptions_by_customer_reference",
        "subscriptions (customer_reference) WHERE customer_reference IS NOT NULL",
    ),
    ("external_references_by_id", "external_references (id)"),
    ("shipments_by_tracking_number", "shipments (tracking_number) WHERE tracking_number IS NOT NULL"),
    (
        "payments_by_processor_reference",
        "payments ((body::jsonb #>> '{processor,reference}')) \
         WHERE (body::jsonb #>> '{processor,reference}') IS NOT NULL",
    ),
    (
        "webhook_endpoints_given_up",
        "webhook_endpoints (disabled_at) \
         WHERE status = 'disabled' AND disabled_reason <> 'merchant' AND deleted_at IS NULL",
    ),
    ("deliveries_given_up", "deliveries (status, id) WHERE status IN ('failed', 'cancelled')"),
    (
        "deliveries_given_up_by_endpoint",
        "deliveries (endpoint_id, status, id) WHERE status IN ('failed', 'cancelled')",
    ),
    ("endpoint_recoveries_ended", "endpoint_recoveries (shard, endpoint_id, id) WHERE status <> 'running'"),
    (
        "refunds_open_in_test",
        "refunds (merchant_id, id) WHERE status NOT IN ('completed', 'failed') AND livemode = FALSE",
    ),
    ("merchants_in_motion", "merchants (id) WHERE sandbox_auto_advance = TRUE"),
    ("webhook_endpoints_with_headers", "webhook_endpoints (id) WHERE headers_sealed IS NOT NULL"),
    (
        "webhook_endpoints_with_certificate",
        "webhook_endpoints (id) WHERE client_certificate_sealed IS NOT NULL",
    ),
];

/// Builds what is missing.
pub(super) async fn build(conn: &mut PgConnection) -> Result<()> {
    let mut missing = Vec::new();
    for (name, on) in INDEXES {
        if is_valid(conn, name).await? != Some(true) {
            missing.push((name, on));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    // It waits for transactions that have begun before it, not for a table that others want.
    sqlx::raw_sql("SET lock_timeout = 0").execute(&mut *conn).await?;
    while !sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(LOCK).fetch_one(&mut *conn).await? {
        tokio::time::sleep(LOCK_PAUSE).await;
    }
    for (name, on) in missing {
        let valid = is_valid(conn, name).await?;
        if valid == Some(true) {
            continue;
        }
        if valid == Some(false) {
            run(conn, format!("DROP INDEX CONCURRENTLY {name}")).await?;
        }
        tracing::info!(index = name, "building an index beside the writes");
        run(conn, format!("CREATE INDEX CONCURRENTLY {name} ON {on}")).await?;
    }
    sqlx::query("SELECT pg_advisory_unlock($1)").bind(LOCK).execute(conn).await?;
    Ok(())
}

/// Whether the index serves; `None` when there is none.
async fn is_valid(conn: &mut PgConnection, name: &str) -> Result<Option<bool>> {
    let found = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)";
    Ok(sqlx::query_scalar(found).bind(name).fetch_optional(conn).await?)
}

async fn run(conn: &mut PgConnection, statement: String) -> Result<()> {
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(conn).await?;
    Ok(())
}
