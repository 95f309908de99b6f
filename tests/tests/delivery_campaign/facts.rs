//! What the database says in the end, read beside the service with plain statements: the judge trusts no code of the
//! product for it.

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};

tests::row! {
    /// A row of `events`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct EventRow {
        pub(crate) id: String,
        pub(crate) merchant_id: String,
        pub(crate) event_type: String,
        pub(crate) resource_id: String,
        pub(crate) sequence: i64,
        pub(crate) body: String,
    }
}

tests::row! {
    /// A row of `deliveries`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct DeliveryRow {
        pub(crate) id: String,
        pub(crate) event_id: String,
        pub(crate) endpoint_id: String,
        pub(crate) triggered_by: String,
        pub(crate) status: String,
        pub(crate) attempt_count: i64,
        pub(crate) failure_reason: Option<String>,
        pub(crate) created_at: i64,
    }
}

tests::row! {
    /// A row of `attempts`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct AttemptRow {
        pub(crate) delivery_id: String,
        pub(crate) number: i64,
        pub(crate) started_at: i64,
        pub(crate) signed_timestamp: i64,
        pub(crate) duration_ms: i64,
        pub(crate) outcome: String,
        pub(crate) response_status: Option<i64>,
        pub(crate) retry_at: Option<i64>,
    }
}

/// Everything that the judge asks the database for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) events: Vec<EventRow>,
    pub(crate) deliveries: Vec<DeliveryRow>,
    pub(crate) attempts: Vec<AttemptRow>,
}

const EVENTS: &str = "SELECT id, merchant_id, type AS event_type, resource_id, sequence, body FROM events";
const DELIVERIES: &str = "SELECT id, event_id, endpoint_id, triggered_by, status, attempt_count, failure_reason, created_at \
     FROM deliveries";
const ATTEMPTS: &str = "SELECT delivery_id, number, started_at, signed_timestamp, duration_ms, outcome, response_status, \
     retry_at FROM attempts ORDER BY delivery_id, number";
const WAITING: &str = "SELECT (SELECT COUNT(*) FROM deliveries WHERE status = 'pending') \
     + (SELECT COUNT(*) FROM endpoint_recoveries WHERE status = 'running')";

/// A connection to a database of either kind.
pub(crate) enum Look {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

/// The same on a connection of either kind.
macro_rules! on {
    ($look:expr, $conn:ident => $work:expr) => {
        match $look {
            Look::Sqlite($conn) => $work,
            Look::Postgres($conn) => $work,
        }
    };
}

impl Look {
    pub(crate) async fn at(url: &str) -> Self {
        if url.starts_with("postgres") {
            let options: PgConnectOptions = url.parse().unwrap();
            return Self::Postgres(options.connect().await.unwrap());
        }
        let options: SqliteConnectOptions = url.parse().unwrap();
        Self::Sqlite(options.connect().await.unwrap())
    }

    /// How many deliveries wait, and recoveries that may make more.
    pub(crate) async fn waiting(&mut self) -> i64 {
        on!(self, conn => sqlx::query_scalar(WAITING).fetch_one(conn).await.unwrap())
    }

    /// Everything.
    pub(crate) async fn facts(mut self) -> Facts {
        let facts = Facts {
            events: on!(&mut self, conn => sqlx::query_as(EVENTS).fetch_all(conn).await.unwrap()),
            deliveries: on!(&mut self, conn => sqlx::query_as(DELIVERIES).fetch_all(conn).await.unwrap()),
            attempts: on!(&mut self, conn => sqlx::query_as(ATTEMPTS).fetch_all(conn).await.unwrap()),
        };
        on!(self, conn => conn.close().await.unwrap());
        facts
    }
}
