//! Keys by their hashes, and the keys of operators.

use async_trait::async_trait;
use authority_domain::id::KeyId;
use authority_domain::key_record::ApiKeyRecord;
use authority_domain::merchant::Merchant;
use authority_domain::scope::OperatorScope;
use authority_domain::time::Timestamp;
use sqlx::{QueryBuilder, Row};

use super::api_keys::{COLUMNS, record};
use super::{Db, Session};
use crate::StoreError;
use crate::ports::{Access, OperatorKeyRecord};

#[async_trait]
impl Access for Session<'_> {
    async fn api_key_by_hash(
        &mut self,
        hash: &[u8; 32],
    ) -> Result<Option<(ApiKeyRecord, Merchant)>, StoreError> {
        let mut query = QueryBuilder::<Db>::new("SELECT ");
        query
            .push(COLUMNS)
            .push(", m.body AS merchant FROM api_keys k JOIN merchants m ON m.id = k.merchant_id");
        query.push(" WHERE k.hash = ").push_bind(hash.as_slice());
        let row = query.build().fetch_optional(&mut *self.conn).await?;
        let Some(row) = row else { return Ok(None) };
        let merchant: String = row.try_get("merchant")?;
        Ok(Some((record(&row)?, serde_json::from_str(&merchant)?)))
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
