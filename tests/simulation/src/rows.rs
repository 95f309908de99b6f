//! What lies in the database, read beside the product, with statements of the judge's own. They name the shard, which
//! is 0 on SQLite: it leads the keys, and without it each statement would read the whole table.

use std::path::Path;

use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, SqliteConnection};

/// Declares a record that is read from a row, each field from the column of its name. sqlx's derive would bring all of
/// sqlx once more, compiled for the compiler.
macro_rules! row {
    ($(#[$meta:meta])* $vis:vis struct $record:ident {
        $($(#[$doc:meta])* $inside:vis $field:ident: $type:ty),+ $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $record { $($(#[$doc])* $inside $field: $type),+ }

        impl<'r, R: sqlx::Row> sqlx::FromRow<'r, R> for $record
        where
            &'static str: sqlx::ColumnIndex<R>,
            $($type: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>),+
        {
            fn from_row(row: &'r R) -> sqlx::Result<Self> {
                Ok(Self { $($field: row.try_get(stringify!($field))?),+ })
            }
        }
    };
}

row! {
    /// A delivery as it is stored.
    #[derive(Clone, Debug)]
    #[allow(missing_docs)]
    pub(crate) struct DeliveryRow {
        pub(crate) id: String,
        pub(crate) event_id: String,
        pub(crate) endpoint_id: String,
        pub(crate) triggered_by: String,
        pub(crate) status: String,
        pub(crate) attempt_count: i64,
        pub(crate) next_attempt_at: Option<i64>,
        pub(crate) lease_until: Option<i64>,
        pub(crate) last_outcome: Option<String>,
        pub(crate) last_response_status: Option<i64>,
        pub(crate) failure_reason: Option<String>,
    }
}

row! {
    /// An endpoint as it is stored.
    #[derive(Clone, Debug)]
    #[allow(missing_docs)]
    pub(crate) struct EndpointRow {
        pub(crate) id: String,
        pub(crate) url: String,
        pub(crate) status: String,
        pub(crate) disabled_reason: Option<String>,
        pub(crate) deleted: bool,
        pub(crate) health_state: String,
        pub(crate) consecutive_failures: i64,
        pub(crate) held_until: Option<i64>,
        pub(crate) hold_step: i64,
    }
}

row! {
    /// An event as it is stored.
    #[derive(Clone, Debug)]
    #[allow(missing_docs)]
    pub(crate) struct EventRow {
        pub(crate) id: String,
        pub(crate) event_type: String,
        pub(crate) sequence: i64,
        pub(crate) resource_id: String,
        pub(crate) body: String,
    }
}

row! {
    /// An attempt as it is stored.
    #[derive(Clone, Debug)]
    #[allow(missing_docs)]
    pub(crate) struct AttemptRow {
        pub(crate) number: i64,
        pub(crate) outcome: String,
        pub(crate) response_status: Option<i64>,
    }
}

const DELIVERY: &str = "SELECT id, event_id, endpoint_id, triggered_by, status, attempt_count, next_attempt_at, \
    lease_until, last_outcome, last_response_status, failure_reason FROM deliveries";

/// A connection that reads.
#[derive(Debug)]
pub(crate) struct Rows(SqliteConnection);

impl Rows {
    /// Opens one beside the product.
    pub(crate) async fn open(path: &Path) -> Self {
        let options = SqliteConnectOptions::new().filename(path).read_only(true);
        Self(options.connect().await.expect("the database can be read"))
    }

    /// These deliveries, by id.
    pub(crate) async fn deliveries<'i>(
        &mut self,
        ids: impl IntoIterator<Item = &'i String>,
    ) -> Vec<DeliveryRow> {
        let ids = json!(ids.into_iter().collect::<Vec<_>>()).to_string();
        let text =
            statement(DELIVERY, " WHERE shard = 0 AND id IN (SELECT value FROM json_each($1)) ORDER BY id");
        sqlx::query_as(sqlx::AssertSqlSafe(text)).bind(ids).fetch_all(&mut self.0).await.expect("deliveries")
    }

    /// The deliveries that the fan-out made for an event.
    pub(crate) async fn fanned_out(&mut self, event: &str) -> Vec<DeliveryRow> {
        let text = statement(DELIVERY, " WHERE shard = 0 AND event_id = $1 AND triggered_by = 'event'");
        let found = sqlx::query_as(sqlx::AssertSqlSafe(text)).bind(event).fetch_all(&mut self.0).await;
        by_id(found.expect("deliveries"))
    }

    /// Everything that waits. There is an index of that alone, which the shard would keep SQLite from taking.
    pub(crate) async fn pending(&mut self) -> Vec<DeliveryRow> {
        let text = statement(DELIVERY, " WHERE status = 'pending'");
        let found = sqlx::query_as(sqlx::AssertSqlSafe(text)).fetch_all(&mut self.0).await;
        by_id(found.expect("deliveries"))
    }

    /// How many deliveries stand how.
    pub(crate) async fn standing(&mut self) -> Vec<(String, i64)> {
        sqlx::query_as("SELECT status, COUNT(*) FROM deliveries GROUP BY status ORDER BY status")
            .fetch_all(&mut self.0)
            .await
            .expect("counts")
    }

    /// The attempts of a delivery.
    pub(crate) async fn attempts(&mut self, delivery: &str) -> Vec<AttemptRow> {
        sqlx::query_as(
            "SELECT number, outcome, response_status FROM attempts WHERE shard = 0 AND delivery_id = $1 \
             ORDER BY number",
        )
        .bind(delivery)
        .fetch_all(&mut self.0)
        .await
        .expect("attempts")
    }

    /// These endpoints, by id.
    pub(crate) async fn endpoints<'i>(
        &mut self,
        ids: impl IntoIterator<Item = &'i String>,
    ) -> Vec<EndpointRow> {
        let ids = json!(ids.into_iter().collect::<Vec<_>>()).to_string();
        sqlx::query_as(
            "SELECT id, url, status, disabled_reason, deleted_at IS NOT NULL AS deleted, health_state, \
                 consecutive_failures, held_until, hold_step \
             FROM webhook_endpoints WHERE shard = 0 AND id IN (SELECT value FROM json_each($1)) ORDER BY id",
        )
        .bind(ids)
        .fetch_all(&mut self.0)
        .await
        .expect("endpoints")
    }

    /// The open alerts about an endpoint: code and severity.
    pub(crate) async fn alerts(&mut self, merchant: &str, endpoint: &str) -> Vec<(String, String)> {
        sqlx::query_as(
            "SELECT code, severity FROM alerts WHERE merchant_id = $1 AND livemode AND subject = $2 \
             AND closed_at IS NULL ORDER BY code",
        )
        .bind(merchant)
        .bind(endpoint)
        .fetch_all(&mut self.0)
        .await
        .expect("alerts")
    }

    /// The events of a merchant behind a place in its stream.
    pub(crate) async fn events_after(&mut self, merchant: &str, sequence: i64) -> Vec<EventRow> {
        sqlx::query_as(
            "SELECT id, type AS event_type, sequence, resource_id, body FROM events \
             WHERE shard = 0 AND merchant_id = $1 AND livemode = TRUE AND sequence > $2 ORDER BY sequence",
        )
        .bind(merchant)
        .bind(sequence)
        .fetch_all(&mut self.0)
        .await
        .expect("events")
    }
}

/// Sorted here: SQLite would walk all deliveries to find some in this order.
fn by_id(mut rows: Vec<DeliveryRow>) -> Vec<DeliveryRow> {
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    rows
}

fn statement(select: &str, condition: &str) -> String {
    format!("{select}{condition}")
}

/// Damages the database with a trigger, before anything else happens.
pub(crate) async fn plant(path: &Path, trigger: &'static str) {
    let options = SqliteConnectOptions::new().filename(path);
    let mut conn = options.connect().await.expect("the database can be written");
    sqlx::raw_sql(trigger).execute(&mut conn).await.expect("the trigger is made");
    sqlx::Connection::close(conn).await.expect("closed");
}
