//! The clocks of test merchants.

use authority_domain::sandbox::clock::{ADVANCES_MAX, ClockAdvance, SandboxClock};
use authority_domain::{MerchantId, SubscriptionId, Tenant, Timestamp};

use crate::sql::{Across, Query, Result, Shard, Tx, query};

impl Tx {
    /// The clock of a merchant's test mode.
    pub async fn sandbox_clock(&mut self, merchant: &MerchantId) -> Result<SandboxClock> {
        let rows: Vec<(i64, i64)> = query(
            "SELECT advanced_at, seconds FROM sandbox_clock_advances WHERE shard = $1 AND merchant_id = $2 \
             ORDER BY advanced_at",
        )
        .binds((Shard::of(merchant), merchant.as_str()))
        .read(&mut self.conn)
        .await?;
        let advance = |(at, seconds)| ClockAdvance { at: Timestamp::from_ms(at), seconds };
        Ok(SandboxClock::new(rows.into_iter().map(advance).collect()))
    }

    /// Adds an advance, and forgets those before the last
    /// [`ADVANCES_MAX`].
    pub async fn sandbox_clock_advance(
        &mut self,
        merchant: &MerchantId,
        advance: ClockAdvance,
    ) -> Result<()> {
        query(
            "INSERT INTO sandbox_clock_advances (shard, merchant_id, advanced_at, seconds) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (shard, merchant_id, advanced_at) \
                 DO UPDATE SET seconds = sandbox_clock_advances.seconds + excluded.seconds",
        )
        .binds((Shard::of(merchant), merchant.as_str(), advance.at.as_ms(), advance.seconds))
        .write(&mut self.conn)
        .await?;
        query(
            "DELETE FROM sandbox_clock_advances WHERE shard = $1 AND merchant_id = $2 AND advanced_at <= \
                 (SELECT advanced_at FROM sandbox_clock_advances WHERE shard = $1 AND merchant_id = $2 \
                  ORDER BY advanced_at DESC LIMIT 1 OFFSET $3)",
        )
        .binds((Shard::of(merchant), merchant.as_str(), ADVANCES_MAX))
        .run(&mut self.conn)
        .await
    }

    /// The merchants whose clocks were advanced, by id.
    pub async fn sandbox_clocks_advanced(&mut self) -> Result<Vec<MerchantId>> {
        let advanced = "SELECT DISTINCT merchant_id FROM sandbox_clock_advances ORDER BY merchant_id";
        Ok(Query::across(Across::DUE, advanced).read(&mut self.conn).await?)
    }

    /// The tenant's subscriptions that are on trial or active, by id, after `after`; at most `limit`.
    pub async fn subscriptions_running(
        &mut self,
        tenant: &Tenant,
        after: Option<&SubscriptionId>,
        limit: i64,
    ) -> Result<Vec<SubscriptionId>> {
        Ok(query(
            "SELECT id FROM subscriptions WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 \
                 AND status IN ('trialing', 'active') AND id > $4 ORDER BY id LIMIT $5",
        )
        .bind_tenant(tenant)
        .binds((after.map_or("", |after| after.as_str()), limit))
        .read(&mut self.conn)
        .await?)
    }
}
