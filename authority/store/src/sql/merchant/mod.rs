//! Merchants, as the operator manages them.

pub(crate) mod access;
pub(crate) mod api_keys;
pub(crate) mod owners;
pub(crate) mod portal_sessions;
pub(crate) mod sandbox_clock;

use authority_domain::list_filter::MerchantFilter;
use authority_domain::{Merchant, MerchantId};

use crate::sql::transaction::tx::Written;
use crate::sql::{Query, Result, ShardSet, Tx, query};

impl Tx {
    /// Adds a merchant.
    ///
    /// # Errors
    /// [`Conflict(MerchantSlug)`](crate::Constraint::MerchantSlug) when the slug is taken.
    pub async fn merchant_insert(&mut self, merchant: &Merchant) -> Result<()> {
        query(
            "INSERT INTO merchants (id, slug, status, body, created_at, updated_at, max_in_flight, dispatch_share_percent) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .binds((merchant.id.as_str(), &merchant.slug, merchant.status.as_str()))
        .binds((serde_json::to_string(merchant)?, merchant.created_at.as_ms(), merchant.updated_at.as_ms()))
        .binds((merchant.limits.max_in_flight, merchant.limits.dispatch_share_percent))
        .write_beside_cache(&mut self.conn)
        .await?;
        self.note_written(written(merchant, None));
        Ok(())
    }

    /// One merchant.
    pub async fn merchant_get(&mut self, id: &MerchantId) -> Result<Option<Merchant>> {
        if let Some(merchant) = self.conn.cache.merchants.get(id) {
            return Ok(Some(merchant.clone()));
        }
        let body: Option<String> = query("SELECT body FROM merchants WHERE id = $1")
            .bind(id.as_str())
            .about(&[])
            .read_optional(&mut self.conn)
            .await?;
        let merchant = body.map(|body| serde_json::from_str(&body)).transpose()?;
        if let Some(merchant) = &merchant {
            self.conn.note_merchant(merchant);
        }
        Ok(merchant)
    }

    /// Up to `limit` merchants before the one with the id `before`, newest first.
    pub async fn merchants_page(
        &mut self,
        filter: &MerchantFilter,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<Merchant>> {
        let mut query = Query::new("SELECT body FROM merchants WHERE TRUE");
        query.push_some(" AND id < ", before);
        query.push_in("status", &filter.status);
        query.push_some(" AND slug = ", filter.slug.as_ref());
        query.push(" ORDER BY id DESC LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, |row| row.record("body")).await
    }

    /// Writes the next version of a merchant. Its id and slug never change.
    pub async fn merchant_update(&mut self, merchant: &Merchant) -> Result<()> {
        self.need_turns(ShardSet::of(&merchant.id))?;
        let before = self.conn.cache.merchants.get(&merchant.id);
        let limits_stay =
            before.is_some_and(|it| (it.status, &it.limits) == (merchant.status, &merchant.limits));
        let query = query(
            "UPDATE merchants SET status = $3, body = $4, updated_at = $5, max_in_flight = $6, \
                 dispatch_share_percent = $7 WHERE id = $1 AND slug = $2",
        )
        .binds((merchant.id.as_str(), &merchant.slug, merchant.status.as_str()))
        .binds((serde_json::to_string(merchant)?, merchant.updated_at.as_ms()))
        .binds((merchant.limits.max_in_flight, merchant.limits.dispatch_share_percent));
        if limits_stay {
            // Cached streams depend on nothing else of a merchant.
            query.write_one_beside_cache(&mut self.conn, "merchant").await?;
            self.conn.note_merchant(merchant);
        } else {
            query.write_one(&mut self.conn, "merchant").await?;
        }
        self.note_written(written(merchant, Some(merchant.resource_version - 1)));
        Ok(())
    }

    /// The merchant that the sandbox made for `of` to share orders with.
    pub async fn merchant_counterpart(&mut self, of: &MerchantId) -> Result<Option<Merchant>> {
        query("SELECT body FROM merchants WHERE counterpart_of = $1")
            .bind(of.as_str())
            .read_optional_as(&mut self.conn, |row| row.record("body"))
            .await
    }

    /// Notes that a merchant was made for `of`, which has none yet.
    pub async fn merchant_counterpart_put(&mut self, id: &MerchantId, of: &MerchantId) -> Result<()> {
        self.need_turns(ShardSet::of(of))?;
        query("UPDATE merchants SET counterpart_of = $2 WHERE id = $1")
            .binds((id.as_str(), of.as_str()))
            .write_one(&mut self.conn, "merchant")
            .await
    }
}

fn written(merchant: &Merchant, before: Option<i64>) -> Written {
    Written {
        resource_id: merchant.id.to_string(),
        merchant_id: Some(merchant.id.clone()),
        livemode: None,
        before,
        after: Some(merchant.resource_version),
    }
}
