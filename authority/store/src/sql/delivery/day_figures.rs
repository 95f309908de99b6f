//! Recent events, attempts and failed deliveries, counted as they happen: one row per endpoint and five minutes, and
//! for each shard and hour one for the attempts at all endpoints and one for the events, so that transactions of
//! different shards never write the same row.
//!
//! So the figures of a day cost a few hundred rows of an endpoint, and two thousand of all, however much was sent in
//! it. The window begins with the five minutes, or the hour, in which the day began. Housekeeping removes older rows.

use std::collections::BTreeMap;

use authority_domain::event::NewEvent;
use authority_domain::{EndpointId, Tenant, Timestamp};

use crate::sql::delivery::settlements::WrittenOutcome;
use crate::sql::{
    Across, Form, Query, Result, Row, Shard, ShardSet, Table, TableOrder, Together, Touches, Tx, columns,
    fields, row,
};

/// Milliseconds that one row of an endpoint covers.
const SPAN_MS: i64 = 5 * 60 * 1000;

/// Milliseconds that one row of a shard covers.
pub(crate) const HOUR_MS: i64 = 60 * 60 * 1000;

/// The key of a shard's rows for all its endpoints. Ids of endpoints begin with `we_`.
const SHARD: &str = "shard";

/// The key of a shard's rows for its events, which have them as attempts.
const EVENTS: &str = "events";

static FIGURES: Table = Table {
    order: TableOrder::Figure,
    touches: Touches::Any,
    columns: columns!("endpoint_figures":
        shard Shard, endpoint_id Text, since Int, attempts Int, failed_attempts Int, failed_deliveries Int),
    form: Form::Insert,
    rest: "ON CONFLICT (shard, endpoint_id, since) DO UPDATE SET attempts = endpoint_figures.attempts + excluded.attempts, \
        failed_attempts = endpoint_figures.failed_attempts + excluded.failed_attempts, \
        failed_deliveries = endpoint_figures.failed_deliveries + excluded.failed_deliveries",
    together: Together::Added(3),
};

/// What happened and was sent in one hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HourFigures {
    /// When the hour began.
    pub since: Timestamp,
    /// Events; of all merchants, and none where the figures are one endpoint's.
    pub events: i64,
    /// Attempts.
    pub attempts: i64,
    /// Of these, the ones that failed.
    pub failed_attempts: i64,
    /// Deliveries that failed for good.
    pub failed_deliveries: i64,
}

/// Attempts, those that failed, deliveries given up.
pub(crate) type Lately = (i64, i64, i64);

fn span(at: Timestamp) -> i64 {
    at.as_ms() - at.as_ms().rem_euclid(SPAN_MS)
}

pub(crate) fn hour(at: Timestamp) -> i64 {
    at.as_ms() - at.as_ms().rem_euclid(HOUR_MS)
}

impl Tx {
    /// Counts what was just settled.
    pub(crate) fn count_settled(&mut self, written: &[WrittenOutcome<'_>]) {
        let mut counted: BTreeMap<(Shard, &str, i64), Lately> = BTreeMap::new();
        for WrittenOutcome { settlement, next } in written {
            let failed = i64::from(settlement.outcome != "success");
            let given_up = i64::from(settlement.outcome != "success" && next.is_none());
            let (shard, endpoint) = (Shard::of(&settlement.merchant_id), settlement.endpoint_id.as_str());
            let (started_at, finished_at) = (settlement.started_at, settlement.finished_at);
            for (owner, started, finished) in [
                (endpoint, span(started_at), span(finished_at)),
                (SHARD, hour(started_at), hour(finished_at)),
            ] {
                let tried = counted.entry((shard, owner, started)).or_default();
                tried.0 += 1;
                tried.1 += failed;
                counted.entry((shard, owner, finished)).or_default().2 += given_up;
            }
        }
        for ((shard, owner, since), counts) in counted {
            self.count(shard, owner, since, counts);
        }
    }

    /// Counts events that are about to be written.
    pub(crate) fn count_events(&mut self, shard: Shard, events: &[NewEvent]) {
        for of_one_time in events.chunk_by(|a, b| hour(a.created_at) == hour(b.created_at)) {
            if let [event, ..] = of_one_time {
                let count = i64::try_from(of_one_time.len()).unwrap_or(i64::MAX);
                self.count(shard, EVENTS, hour(event.created_at), (count, 0, 0));
            }
        }
    }

    fn count(&mut self, shard: Shard, owner: &str, since: i64, (attempts, failed, given_up): Lately) {
        if (attempts, given_up) != (0, 0) {
            let keys = [format!("figures {} {owner} {since}", shard.number())];
            self.conn.buffer(&FIGURES, keys, row!(shard, owner, since, attempts, failed, given_up));
        }
    }

    /// Deliveries that failed for good since the hour of `since`.
    pub async fn failed_since(&mut self, since: Timestamp) -> Result<i64> {
        Ok(self.counted_since(None, since).await?.2)
    }

    /// The counts of a tenant's endpoint since `since`; of all endpoints without one.
    pub(crate) async fn counted_since(
        &mut self,
        endpoint: Option<(&Tenant, &EndpointId)>,
        since: Timestamp,
    ) -> Result<Lately> {
        // `+since`: SQLite must not take the index by time, which has the rows of every endpoint.
        let select = "SELECT CAST(COALESCE(SUM(attempts), 0) AS BIGINT), \
             CAST(COALESCE(SUM(failed_attempts), 0) AS BIGINT), \
             CAST(COALESCE(SUM(failed_deliveries), 0) AS BIGINT) FROM endpoint_figures WHERE +since >= ";
        let (mut query, shards, owner, begin) = match endpoint {
            Some((tenant, endpoint)) => {
                (Query::new(select), ShardSet::of(&tenant.merchant_id), endpoint.as_str(), span(since))
            }
            None => (Query::across(Across::OPERATOR, select), ShardSet::ALL, SHARD, hour(since)),
        };
        query.push_bind(begin).push(" AND endpoint_id = ").push_bind(owner);
        query.push(" AND ").push_shards("", shards);
        Ok(query.read_one(&mut self.conn).await?)
    }

    /// What happened and was sent since the hour of `since`, to one endpoint or to all, hour by hour. Hours in which
    /// nothing happened are absent.
    pub async fn hours_since(
        &mut self,
        endpoint: Option<(&Tenant, &EndpointId)>,
        since: Timestamp,
    ) -> Result<Vec<HourFigures>> {
        // The sign keeps planners from the index of ages, which has the rows of all endpoints.
        let shards = endpoint.map_or(ShardSet::ALL, |(tenant, _)| ShardSet::of(&tenant.merchant_id));
        let mut query = Query::across(
            Across::OPERATOR,
            "SELECT since / 3600000 AS hour, \
                 CAST(SUM(CASE WHEN endpoint_id = 'events' THEN attempts ELSE 0 END) AS BIGINT) AS events, \
                 CAST(SUM(CASE WHEN endpoint_id = 'events' THEN 0 ELSE attempts END) AS BIGINT) AS attempts, \
                 CAST(SUM(failed_attempts) AS BIGINT) AS failed_attempts, \
                 CAST(SUM(failed_deliveries) AS BIGINT) AS failed_deliveries FROM endpoint_figures WHERE +since >= ",
        );
        query.push_bind(hour(since)).push(" AND ").push_shards("", shards).push(" AND endpoint_id ");
        match endpoint {
            Some((_, endpoint)) => query.push("= ").push_bind(endpoint.as_str()),
            None => query.push("IN (").push_list([EVENTS, SHARD]).push(")"),
        };
        query.push(" GROUP BY since / 3600000 ORDER BY hour");
        let figures = |row: &Row| {
            let hour: i64 = row.get("hour")?;
            Ok(fields!(row => HourFigures {
                events, attempts, failed_attempts, failed_deliveries;
                since: Timestamp::from_ms(hour * HOUR_MS),
            }))
        };
        query.read_as(&mut self.conn, figures).await
    }
}
