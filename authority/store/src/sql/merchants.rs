//! Merchants. Partners read each other's records, so who changes one holds every turn.

use async_trait::async_trait;
use authority_domain::id::MerchantId;
use authority_domain::merchant::Merchant;
use sqlx::QueryBuilder;

use super::{Db, Session, one_row, push_in};
use crate::StoreError;
use crate::ports::{Audit, MerchantFilter, Merchants, TurnHolder as _, Written};
use crate::shards::ShardSet;

#[async_trait]
impl Merchants for Session<'_> {
    async fn merchant_insert(&mut self, merchant: &Merchant) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO merchants (id, slug, status, body, created_at, updated_at, max_in_flight, dispatch_share_percent) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(merchant.id.as_str())
        .bind(&merchant.slug)
        .bind(merchant.status.as_str())
        .bind(serde_json::to_string(merchant)?)
        .bind(merchant.created_at.as_ms())
        .bind(merchant.updated_at.as_ms())
        .bind(merchant.limits.max_in_flight)
        .bind(merchant.limits.dispatch_share_percent)
        .execute(&mut *self.conn)
        .await?;
        self.note_written(written(merchant, None));
        Ok(())
    }

    async fn merchant_get(&mut self, id: &MerchantId) -> Result<Option<Merchant>, StoreError> {
        if let Some(merchant) = self.conn.cache.merchant(id) {
            return Ok(Some(merchant.clone()));
        }
        let body: Option<String> = sqlx::query_scalar("SELECT body FROM merchants WHERE id = $1")
            .bind(id.as_str())
            .fetch_optional(self.conn.about(&[]).await?)
            .await?;
        let merchant = body.map(|body| serde_json::from_str(&body)).transpose()?;
        if let Some(merchant) = &merchant {
            self.conn.note_merchant(merchant);
        }
        Ok(merchant)
    }

    async fn merchants_page(
        &mut self,
        filter: &MerchantFilter,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<Merchant>, StoreError> {
        let mut query = QueryBuilder::<Db>::new("SELECT body FROM merchants WHERE TRUE");
        if let Some(before) = before {
            query.push(" AND id < ").push_bind(before);
        }
        push_in(&mut query, "status", &filter.status);
        if let Some(slug) = &filter.slug {
            query.push(" AND slug = ").push_bind(slug);
        }
        query.push(" ORDER BY id DESC LIMIT ").push_bind(limit);
        let bodies: Vec<String> = query.build_query_scalar().fetch_all(&mut *self.conn).await?;
        Ok(bodies.iter().map(|body| serde_json::from_str(body)).collect::<Result<_, _>>()?)
    }

    async fn merchant_update(&mut self, merchant: &Merchant) -> Result<(), StoreError> {
        self.need_turns(ShardSet::ALL)?;
        let done = sqlx::query(
            "UPDATE merchants SET status = $3, body = $4, updated_at = $5, max_in_flight = $6, \
                 dispatch_share_percent = $7 WHERE id = $1 AND slug = $2",
        )
        .bind(merchant.id.as_str())
        .bind(&merchant.slug)
        .bind(merchant.status.as_str())
        .bind(serde_json::to_string(merchant)?)
        .bind(merchant.updated_at.as_ms())
        .bind(merchant.limits.max_in_flight)
        .bind(merchant.limits.dispatch_share_percent)
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "merchant")?;
        self.note_written(written(merchant, Some(merchant.resource_version - 1)));
        Ok(())
    }

    async fn merchant_counterpart(&mut self, of: &MerchantId) -> Result<Option<Merchant>, StoreError> {
        let body: Option<String> = sqlx::query_scalar("SELECT body FROM merchants WHERE counterpart_of = $1")
            .bind(of.as_str())
            .fetch_optional(&mut *self.conn)
            .await?;
        Ok(body.map(|body| serde_json::from_str(&body)).transpose()?)
    }

    async fn merchant_counterpart_put(&mut self, id: &MerchantId, of: &MerchantId) -> Result<(), StoreError> {
        self.need_turns(ShardSet::ALL)?;
        let done = sqlx::query("UPDATE merchants SET counterpart_of = $2 WHERE id = $1")
            .bind(id.as_str())
            .bind(of.as_str())
            .execute(&mut *self.conn)
            .await?;
        one_row(done.rows_affected(), "merchant")
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
