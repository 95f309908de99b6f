//! Where time alone has brought something due to endpoints. It is read without a turn, so that a transaction takes only
//! those of the shards that have something to do.

use authority_domain::{AlertCode, Timestamp};

use crate::sql::endpoint::health::{Overdue, push_overdue};
use crate::sql::{Across, Query, Result, ShardSet, Tx};

impl Tx {
    /// The shards in which something is due at `now`: a secret has expired ([`Tx::secrets_expire`]), a delivery waits
    /// for an endpoint that is disabled or deleted ([`Tx::deliveries_cancel_stranded`]), an alert of this code was not
    /// raised since `quiet_since` ([`Tx::alerts_close_quiet`]), or an endpoint is overdue ([`Tx::conditions_overdue`]).
    pub async fn upkeep_due(
        &mut self,
        now: Timestamp,
        (code, quiet_since): (AlertCode, Timestamp),
        overdue: Overdue,
    ) -> Result<ShardSet> {
        let select = |rest: &str| {
            Query::across(Across::DUE, &format!("SELECT DISTINCT CAST(shard AS BIGINT) FROM {rest}"))
        };
        let mut secrets = select("endpoint_secrets WHERE expires_at <= ");
        secrets.push_bind(now.as_ms());
        let mut stranded = select(
            "webhook_endpoints WHERE status = 'disabled' AND EXISTS (SELECT 1 FROM deliveries d \
             WHERE d.shard = webhook_endpoints.shard AND d.endpoint_id = webhook_endpoints.id AND d.status = 'pending' \
                 AND (d.lease_until IS NULL OR d.lease_until < ",
        );
        stranded.push_bind(now.as_ms()).push("))");
        let mut quiet = select("alerts WHERE closed_at IS NULL AND code = ");
        quiet.push_bind(code.as_str()).push(" AND last_seen_at < ").push_bind(quiet_since.as_ms());
        let mut failing = select("webhook_endpoints WHERE ");
        push_overdue(&mut failing, overdue);
        let mut due = ShardSet::NONE;
        for query in [secrets, stranded, quiet, failing] {
            let shards: Vec<i64> = query.read(&mut self.conn).await?;
            let one = |shard| u32::try_from(shard).map_or(ShardSet::NONE, ShardSet::one);
            due = shards.into_iter().map(one).fold(due, ShardSet::or);
        }
        Ok(due)
    }
}
