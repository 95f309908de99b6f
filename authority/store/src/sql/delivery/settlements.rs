//! What an attempt makes of its delivery: the outcome, the attempt's own row, and the figures of the day (contract 2.9,
//! 7.3).
//!
//! An outcome counts where its lease token is still the holder's. A delivery for which a retry was asked while the
//! attempt was in flight stays pending, and is sent at once (contract 18.4-6).

use std::collections::{BTreeMap, BTreeSet};

use authority_domain::{AttemptId, DeliveryId, EndpointId, FailureReason, MerchantId, Timestamp};

use crate::sql::transaction::rows::kinds;
use crate::sql::{
    Form, Kind, Query, Result, Shard, Table, TableOrder, Together, Touches, Tx, Value, columns, row,
};

/// The state in which an attempt leaves its delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettledAs {
    /// The receiver acknowledged.
    Succeeded,
    /// Another attempt follows.
    Retry {
        /// When.
        at: Timestamp,
        /// The receiver named a time: this attempt does not count against the schedule.
        put_off: bool,
    },
    /// No further attempt; the reason is `failure_reason` of contract 2.9.
    Failed {
        /// Why.
        reason: &'static str,
    },
}

/// The outcome of one attempt.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Settlement {
    /// The merchant of the endpoint.
    pub merchant_id: MerchantId,
    pub delivery_id: DeliveryId,
    pub endpoint_id: EndpointId,
    pub token: String,
    pub attempt_id: AttemptId,
    pub number: i64,
    pub started_at: Timestamp,
    pub finished_at: Timestamp,
    pub signed_timestamp: i64,
    pub duration_ms: i64,
    pub outcome: &'static str,
    pub response_status: Option<i64>,
    pub response_excerpt: Option<String>,
    pub settled_as: SettledAs,
}

/// An attempt that counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The attempt.
    pub attempt_id: AttemptId,
    /// Its delivery is due again, because a retry was asked while the attempt was in flight.
    pub retry_asked: bool,
}

/// Writes outcomes. Column 13: no further attempt follows, even if a retry was asked.
const SETTLE: &str = "UPDATE deliveries SET \
    status = CASE WHEN retry_asked_at IS NULL OR s.column13 THEN s.column3 ELSE 'pending' END, \
    next_attempt_at = CASE WHEN retry_asked_at IS NULL OR s.column13 THEN s.column5 ELSE retry_asked_at END, \
    failure_reason = CASE WHEN retry_asked_at IS NULL OR s.column13 THEN s.column8 END, \
    failed_at = CASE WHEN retry_asked_at IS NULL OR s.column13 THEN s.column10 END, \
    attempt_count = s.column4, last_outcome = s.column6, last_response_status = s.column7, \
    succeeded_at = s.column9, updated_at = s.column11, put_off_count = put_off_count + s.column12, \
    lease_token = NULL, lease_until = NULL, retry_asked_at = NULL FROM (";

/// The columns of an outcome.
static OUTCOME: [Kind; 14] =
    kinds!(Text, Text, Text, Int, Int, Text, Int, Text, Int, Int, Int, Int, Bool, Shard);

fn outcome(settlement: &Settlement) -> Vec<Value<'_>> {
    let at = settlement.finished_at.as_ms();
    let (status, next, reason, put_off) = match settlement.settled_as {
        SettledAs::Succeeded => ("succeeded", None, None, 0_i64),
        SettledAs::Retry { at, put_off } => ("pending", Some(at.as_ms()), None, i64::from(put_off)),
        SettledAs::Failed { reason } => ("failed", None, Some(reason), 0),
    };
    vec![
        settlement.delivery_id.as_str().into(),
        settlement.token.as_str().into(),
        status.into(),
        settlement.number.into(),
        next.into(),
        settlement.outcome.into(),
        settlement.response_status.into(),
        reason.into(),
        (status == "succeeded").then_some(at).into(),
        (status == "failed").then_some(at).into(),
        at.into(),
        put_off.into(),
        (status == "succeeded" || reason == Some(FailureReason::Gone.as_str())).into(),
        Shard::of(&settlement.merchant_id).into(),
    ]
}

/// Attempts that have ended.
static ATTEMPTS: Table = Table {
    order: TableOrder::Attempt,
    touches: Touches::Any,
    columns: columns!("attempts":
        shard Shard, id Text, delivery_id Text, endpoint_id Text, number Int, started_at Int, signed_timestamp Int,
        duration_ms Int, outcome Text, response_status Int, response_excerpt Text, retry_at Int),
    form: Form::Insert,
    rest: "",
    together: Together::Apart,
};

/// An outcome as it was written.
pub(crate) struct WrittenOutcome<'s> {
    pub(crate) settlement: &'s Settlement,
    /// When the next attempt is due; `None` when there is none.
    pub(crate) next: Option<i64>,
}

impl WrittenOutcome<'_> {
    fn settled(&self) -> Settled {
        let planned = match self.settlement.settled_as {
            SettledAs::Retry { at, .. } => Some(at.as_ms()),
            SettledAs::Succeeded | SettledAs::Failed { .. } => None,
        };
        Settled { attempt_id: self.settlement.attempt_id.clone(), retry_asked: self.next != planned }
    }
}

impl Tx {
    /// Writes outcomes where the token is still the holder's; returns the attempts that counted. A delivery for which
    /// a retry was asked while the attempt was in flight stays pending and is sent at `now`, on an endpoint that is
    /// held back as the probe, unless the attempt succeeded or the receiver is gone (contract 18.4-6).
    pub async fn delivery_settle(
        &mut self,
        settlements: &[&Settlement],
        now: Timestamp,
    ) -> Result<Vec<Settled>> {
        let claimed = self.one_each(settlements).await?;
        if claimed.is_empty() {
            return Ok(Vec::new());
        }
        let mut query = Query::new(SETTLE);
        query.push_rows(&OUTCOME, claimed.iter().map(|settlement| outcome(settlement)).collect());
        // The write itself checks that the lease token is still the holder's.
        query.push(
            ") AS s WHERE deliveries.shard = s.column14 AND deliveries.id = s.column1 AND deliveries.lease_token = s.column2 \
             RETURNING id, next_attempt_at",
        );
        let written: BTreeMap<String, Option<i64>> =
            query.write_returning(&mut self.conn).await?.into_iter().collect();
        let of = |settlement| {
            Some(WrittenOutcome { settlement, next: *written.get(settlement.delivery_id.as_str())? })
        };
        let ours: Vec<WrittenOutcome<'_>> = claimed.into_iter().filter_map(of).collect();
        self.note_attempts(&ours);
        self.count_settled(&ours);
        let waiting = ours.iter().filter(|of| of.next.is_some());
        let waiting: Vec<String> = waiting.map(|of| of.settlement.delivery_id.to_string()).collect();
        self.cancel_where_disabled(&waiting).await?;
        let settled: Vec<Settled> = ours.iter().map(WrittenOutcome::settled).collect();
        for (of, _) in ours.iter().zip(&settled).filter(|(_, settled)| settled.retry_asked) {
            let Settlement { delivery_id, endpoint_id, .. } = of.settlement;
            self.ask_for_room(endpoint_id, now);
            self.probe(delivery_id, endpoint_id, now);
        }
        Ok(settled)
    }

    /// At most one settlement for each delivery. A batch may hold outcomes of a delivery's former and its present
    /// holder; only the latter counts. That is rare, so the database is asked only when it happens.
    async fn one_each<'s>(&mut self, settlements: &[&'s Settlement]) -> Result<Vec<&'s Settlement>> {
        let ids: BTreeSet<&str> =
            settlements.iter().map(|settlement| settlement.delivery_id.as_str()).collect();
        if ids.len() == settlements.len() {
            return Ok(settlements.to_vec());
        }
        let ids: Vec<String> = ids.into_iter().map(str::to_owned).collect();
        let mut query =
            Query::new("SELECT id, lease_token FROM deliveries WHERE lease_token IS NOT NULL AND ");
        query.push_shards("", self.conn.shards());
        query.push_in("id", &ids);
        query.push(" ORDER BY id").push(self.conn.dialect().lock_rows);
        let held: BTreeMap<String, String> = query.read(&mut self.conn).await?.into_iter().collect();
        let is_held = |settlement: &&&Settlement| {
            held.get(settlement.delivery_id.as_str()).is_some_and(|token| *token == settlement.token)
        };
        Ok(settlements.iter().filter(is_held).copied().collect())
    }

    fn note_attempts(&mut self, written: &[WrittenOutcome<'_>]) {
        for WrittenOutcome { settlement, next } in written {
            self.conn.buffer(
                &ATTEMPTS,
                [],
                row!(
                    Shard::of(&settlement.merchant_id), settlement.attempt_id.as_str();
                    settlement.delivery_id.as_str();
                    settlement.endpoint_id.as_str(), settlement.number, settlement.started_at.as_ms();
                    settlement.signed_timestamp, settlement.duration_ms, settlement.outcome;
                    settlement.response_status, settlement.response_excerpt.as_deref(), *next),
            );
        }
    }
}
