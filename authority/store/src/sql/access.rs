//! Merchants and keys.

use async_trait::async_trait;
use authority_domain::id::{KeyId, MerchantId};
use authority_domain::merchant::Merchant;
use authority_domain::scope::{OperatorScope, Scope};
use authority_domain::time::Timestamp;
use sqlx::Row;

use super::{DbRow, Session};
use crate::StoreError;
use crate::ports::{Access, ApiKeyRecord, OperatorKeyRecord};

const API_KEY_BY_HASH: &str = "SELECT k.id, k.merchant_id, k.livemode, k.hash, k.name, k.display, k.scopes, \
     k.expires_at, k.revoked_at, k.created_by, k.created_at, m.body AS merchant \
     FROM api_keys k JOIN merchants m ON m.id = k.merchant_id WHERE k.hash = $1";

#[async_trait]
impl Access for Session<'_> {
    async fn merchant_insert(&mut self, merchant: &Merchant) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO merchants (id, slug, status, body, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(merchant.id.as_str())
        .bind(&merchant.slug)
        .bind(merchant.status.as_str())
        .bind(serde_json::to_string(merchant)?)
        .bind(merchant.created_at.as_ms())
        .bind(merchant.updated_at.as_ms())
        .execute(&mut *self.conn)
        .await?;
        Ok(())
    }

    async fn merchant_get(&mut self, id: &MerchantId) -> Result<Option<Merchant>, StoreError> {
        let body: Option<String> = sqlx::query_scalar("SELECT body FROM merchants WHERE id = $1")
            .bind(id.as_str())
            .fetch_optional(&mut *self.conn)
            .await?;
        Ok(body.map(|body| serde_json::from_str(&body)).transpose()?)
    }

    async fn api_key_insert(&mut self, key: &ApiKeyRecord) -> Result<(), StoreError> {
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        sqlx::query(
            "INSERT INTO api_keys (id, merchant_id, livemode, hash, name, display, scopes, expires_at, revoked_at, \
             created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        )
        .bind(key.id.as_str())
        .bind(key.merchant_id.as_str())
        .bind(key.livemode)
        .bind(key.hash.as_slice())
        .bind(&key.name)
        .bind(&key.display)
        .bind(scopes.join(" "))
        .bind(key.expires_at.map(Timestamp::as_ms))
        .bind(key.revoked_at.map(Timestamp::as_ms))
        .bind(&key.created_by)
        .bind(key.created_at.as_ms())
        .execute(&mut *self.conn)
        .await?;
        Ok(())
    }

    async fn api_key_by_hash(
        &mut self,
        hash: &[u8; 32],
    ) -> Result<Option<(ApiKeyRecord, Merchant)>, StoreError> {
        let row = sqlx::query(API_KEY_BY_HASH).bind(hash.as_slice()).fetch_optional(&mut *self.conn).await?;
        let Some(row) = row else { return Ok(None) };
        let merchant: String = row.try_get("merchant")?;
        Ok(Some((api_key(&row, *hash)?, serde_json::from_str(&merchant)?)))
    }

    async fn operator_key_insert(&mut self, key: &OperatorKeyRecord) -> Result<(), StoreError> {
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        sqlx::query(
            "INSERT INTO operator_keys (id, hash, name, display, scopes, revoked_at, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(key.id.as_str())
        .bind(key.hash.as_slice())
        .bind(&key.name)
        .bind(&key.display)
        .bind(scopes.join(" "))
        .bind(key.revoked_at.map(Timestamp::as_ms))
        .bind(key.created_at.as_ms())
        .execute(&mut *self.conn)
        .await?;
        Ok(())
    }

    async fn operator_key_by_hash(
        &mut self,
        hash: &[u8; 32],
    ) -> Result<Option<OperatorKeyRecord>, StoreError> {
        let row = sqlx::query(
            "SELECT id, name, display, scopes, revoked_at, created_at FROM operator_keys WHERE hash = $1",
        )
        .bind(hash.as_slice())
        .fetch_optional(&mut *self.conn)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let scopes: String = row.try_get("scopes")?;
        Ok(Some(OperatorKeyRecord {
            id: KeyId::from_store(row.try_get("id")?),
            hash: *hash,
            name: row.try_get("name")?,
            display: row.try_get("display")?,
            scopes: scopes.split(' ').filter_map(OperatorScope::parse).collect(),
            revoked_at: row.try_get::<Option<i64>, _>("revoked_at")?.map(Timestamp::from_ms),
            created_at: Timestamp::from_ms(row.try_get("created_at")?),
        }))
    }
}

fn api_key(row: &DbRow, hash: [u8; 32]) -> Result<ApiKeyRecord, StoreError> {
    let scopes: String = row.try_get("scopes")?;
    Ok(ApiKeyRecord {
        id: KeyId::from_store(row.try_get("id")?),
        merchant_id: MerchantId::from_store(row.try_get("merchant_id")?),
        livemode: row.try_get("livemode")?,
        hash,
        name: row.try_get("name")?,
        display: row.try_get("display")?,
        scopes: scopes.split(' ').filter_map(Scope::parse).collect(),
        expires_at: row.try_get::<Option<i64>, _>("expires_at")?.map(Timestamp::from_ms),
        revoked_at: row.try_get::<Option<i64>, _>("revoked_at")?.map(Timestamp::from_ms),
        created_by: row.try_get("created_by")?,
        created_at: Timestamp::from_ms(row.try_get("created_at")?),
    })
}
