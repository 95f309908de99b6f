//! The floor's connection, to either database.

use std::sync::Arc;

use super::postgres::Postgres;
use super::sender::Outcome;
use super::sqlite::Sqlite;
use super::writer::Made;

/// A connection that writes.
pub(super) enum Connection {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Connection {
    pub(super) async fn open(url: &str) -> Self {
        match url.strip_prefix("sqlite://") {
            Some(path) => Self::Sqlite(Sqlite::open(path).await),
            None => Self::Postgres(Postgres::open(url).await),
        }
    }

    /// The first checkout and its event, as texts, and where each merchant's stream stands: all had the same start.
    pub(super) async fn first(&mut self) -> (String, String, i64) {
        match self {
            Self::Sqlite(sqlite) => sqlite.first().await,
            Self::Postgres(postgres) => postgres.first().await,
        }
    }

    /// One transaction.
    pub(super) async fn write(&mut self, made: &[Made], lease: &Arc<str>, outcomes: &[Outcome]) {
        match self {
            Self::Sqlite(sqlite) => sqlite.write(made, lease, outcomes).await,
            Self::Postgres(postgres) => postgres.write(made, lease, outcomes).await,
        }
    }
}

/// How long a delivery is leased.
pub(super) const LEASE_MS: i64 = 60_000;
/// How long a checkout is open.
pub(super) const OPEN_MS: i64 = 24 * 60 * 60 * 1_000;
/// Whose the audit entries are.
pub(super) const KEY: &str = "key_00000000000000000000000000";

/// The endpoints of a batch with the time of the last outcome of each.
pub(super) fn endpoints_of(outcomes: &[Outcome]) -> Vec<(&Arc<str>, i64)> {
    let mut last = std::collections::BTreeMap::new();
    for outcome in outcomes {
        let at = last.entry(&outcome.endpoint).or_insert(outcome.finished_at);
        *at = outcome.finished_at.max(*at);
    }
    last.into_iter().collect()
}

/// The merchants of a batch with the last sequence and time of each.
pub(super) fn streams_of(made: &[Made]) -> Vec<(&Arc<str>, i64, i64)> {
    let last: std::collections::BTreeMap<_, _> =
        made.iter().map(|made| (&made.merchant, (made.sequence, made.at))).collect();
    last.into_iter().map(|(merchant, (sequence, at))| (merchant, sequence, at)).collect()
}

/// A checkout and the event of it, and the place that the next event of a merchant comes after.
pub(super) const FIRST: &str = "SELECT c.body, e.body, (SELECT MAX(last_sequence) FROM streams) \
     FROM checkouts c JOIN events e ON e.resource_id = c.id LIMIT 1";
