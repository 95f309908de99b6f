//! Keys by their hashes, and the keys of operators.

use async_trait::async_trait;
use authority_domain::id::KeyId;
use authority_domain::merchant::Merchant;
use authority_domain::merchant::key_record::ApiKeyRecord;
use authority_domain::merchant::scope::OperatorScope;
use authority_domain::time::Timestamp;
use sqlx::{QueryBuilder, Row};

use super::api_keys::{COLUMNS, record};
use super::{Db, DbRow, Session};
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
            "SELECT id, hash, name, display, scopes, revoked_at, created_at FROM operator_keys WHERE hash = $1",
        )
        .bind(hash.as_slice())
        .fetch_optional(&mut *self.conn)
        .await?;
        row.map(|row| operator_key(&row)).transpose()
    }

    async fn operator_keys(&mut self) -> Result<Vec<OperatorKeyRecord>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, hash, name, display, scopes, revoked_at, created_at FROM operator_keys ORDER BY id DESC",
        )
        .fetch_all(&mut *self.conn)
        .await?;
        rows.iter().map(operator_key).collect()
    }

    async fn operator_key_revoke(&mut self, id: &KeyId, now: Timestamp) -> Result<bool, StoreError> {
        let done =
            sqlx::query("UPDATE operator_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL")
                .bind(id.as_str())
                .bind(now.as_ms())
                .execute(&mut *self.conn)
                .await?;
        Ok(done.rows_affected() == 1)
    }
}

pub(super) fn operator_key(row: &DbRow) -> Result<OperatorKeyRecord, StoreError> {
    let scopes: String = row.try_get("scopes")?;
    let hash: Vec<u8> = row.try_get("hash")?;
    Ok(OperatorKeyRecord {
        id: KeyId::from_store(row.try_get("id")?),
        hash: hash
            .try_into()
            .map_err(|_| StoreError::Broken("operator_keys.hash has not 32 bytes".to_owned()))?,
        name: row.try_get("name")?,
        display: row.try_get("display")?,
        scopes: scopes.split(' ').filter_map(OperatorScope::parse).collect(),
        revoked_at: row.try_get::<Option<i64>, _>("revoked_at")?.map(Timestamp::from_ms),
        created_at: Timestamp::from_ms(row.try_get("created_at")?),
    })
}
