//! Checkouts.

use authority_domain::{Checkout, CheckoutId, MerchantId, Tenant, Timestamp};

use crate::sql::transaction::pages::SequenceRange;
use crate::sql::{
    Across, Form, Query, Result, Row, Shard, Table, TableOrder, Together, Touches, Tx, bodies, columns,
    fields, newer, query, row, upsert,
};

/// An open checkout that is past `expires_at`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueCheckout {
    /// Its tenant.
    pub tenant: Tenant,
    /// The checkout.
    pub id: CheckoutId,
    /// Its `expires_at`.
    pub expires_at: Timestamp,
}

/// A version of a checkout.
pub(crate) static CHECKOUTS: Table = Table {
    order: TableOrder::Checkout,
    touches: Touches::Each("checkout"),
    columns: columns!("checkouts":
        shard Shard, id Text, merchant_id Text, livemode Bool, status Text, currency Text, total Int, expires_at Int,
        resource_version Int, body Text, created_sequence Int),
    form: Form::Insert,
    rest: upsert!("shard, id": status, total, expires_at, resource_version, body;
        newer!("checkouts")),
    together: Together::Apart,
};

impl Tx {
    /// One checkout.
    pub async fn checkout_get(&mut self, tenant: &Tenant, id: &CheckoutId) -> Result<Option<Checkout>> {
        if let Some(found) = self.conn.cache.checkout(tenant, id.as_str()) {
            return Ok(Some(serde_json::from_str(&found.body)?));
        }
        let statement =
            "SELECT body FROM checkouts WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND id = $4";
        let about = [id.to_string()];
        bodies::record(&mut self.conn, query(statement).about(&about), tenant, id.as_str()).await
    }

    /// One checkout, and whether a payment of it is still open.
    pub async fn checkout_to_pay(
        &mut self,
        tenant: &Tenant,
        id: &CheckoutId,
    ) -> Result<Option<(Checkout, bool)>> {
        if let Some(known) = self.conn.cache.payables.get(id.as_str()) {
            let ours = known.as_ref().filter(|found| found.tenant == *tenant);
            return ours.map(|found| Ok((serde_json::from_str(&found.body)?, found.under_way))).transpose();
        }
        let found: Option<(String, bool)> = query(
            "SELECT c.body, EXISTS (SELECT 1 FROM payments p WHERE p.shard = $1 AND p.merchant_id = $2 AND p.livemode = $3 \
                 AND p.checkout_id = $4 AND p.status IN ('created', 'pending', 'authorized')) \
             FROM checkouts c WHERE c.shard = $1 AND c.merchant_id = $2 AND c.livemode = $3 AND c.id = $4",
        )
        .bind_tenant(tenant)
        .bind(id.as_str())
        .about(&[id.to_string()])
        .read_optional(&mut self.conn)
        .await?;
        found.map(|(body, open)| Ok((serde_json::from_str(&body)?, open))).transpose()
    }

    /// One checkout and its tenant, as the operator's paths name it.
    pub async fn checkout_find(&mut self, id: &CheckoutId) -> Result<Option<(Tenant, Checkout)>> {
        let query =
            bodies::by_id(&self.conn, "SELECT merchant_id, livemode, body FROM checkouts", id.as_str());
        query.read_optional_as(&mut self.conn, |row| Ok((row.tenant()?, row.record("body")?))).await
    }

    /// Open checkouts of one tenant, or of all (`None`), with `expires_at` at or before `now`, the longest overdue
    /// first, at most `limit`, starting after `after`.
    pub async fn checkouts_due(
        &mut self,
        of: Option<&Tenant>,
        now: Timestamp,
        after: Option<&DueCheckout>,
        limit: i64,
    ) -> Result<Vec<DueCheckout>> {
        let mut query = Query::across(
            Across::DUE,
            "SELECT merchant_id, livemode, id, expires_at FROM checkouts WHERE status = 'open' AND expires_at <= ",
        );
        query.push_bind(now.as_ms());
        query.push(" AND (expires_at, id) > (");
        query.push_bind(after.map_or(i64::MIN, |after| after.expires_at.as_ms()));
        query.push(", ").push_bind(after.map_or(String::new(), |after| after.id.to_string())).push(")");
        if let Some(tenant) = of {
            query.push(" AND ").push_tenant("", tenant);
        }
        query.push(" ORDER BY expires_at, id LIMIT ").push_bind(limit);
        let due = |row: &Row| Ok(fields!(row => DueCheckout { id, expires_at; tenant: row.tenant()? }));
        query.read_as(&mut self.conn, due).await
    }

    /// The earliest `expires_at` of all open checkouts.
    pub async fn checkouts_next_due(&mut self) -> Result<Option<Timestamp>> {
        let next: Option<i64> = Query::across(
            Across::DUE,
            "SELECT expires_at FROM checkouts WHERE status = 'open' ORDER BY expires_at LIMIT 1",
        )
        .read_optional(&mut self.conn)
        .await?;
        Ok(next.map(Timestamp::from_ms))
    }

    /// Writes a version of a checkout.
    pub(crate) async fn checkout_put(
        &mut self,
        merchant: &MerchantId,
        checkout: &Checkout,
        places: SequenceRange,
    ) -> Result<()> {
        let body = serde_json::to_string(checkout)?;
        self.conn.buffer(
            &CHECKOUTS,
            [checkout.id.to_string()],
            row!(
                Shard::of(merchant), checkout.id.as_str(), merchant.as_str(), checkout.livemode;
                checkout.status.as_str();
                checkout.currency.as_str(), checkout.amounts.total, checkout.expires_at.as_ms();
                checkout.resource_version, body, places.first),
        );
        Ok(())
    }
}
