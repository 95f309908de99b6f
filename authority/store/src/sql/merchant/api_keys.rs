//! The keys of merchants, as the operator manages them.

use authority_domain::id::{KeyId, MerchantId};
use authority_domain::merchant::key_record::ApiKeyRecord;
use authority_domain::merchant::scope::Scope;
use authority_domain::time::Timestamp;

use crate::StoreError;
use crate::driver::{Query, Row, query};
use crate::ports::Written;
use crate::sql::transaction::Tx;
use crate::sql::transaction::tx::one_row;

/// What [`record`] reads, from `api_keys` under the name `k`.
pub(crate) const COLUMNS: &str = "k.id, k.merchant_id, k.livemode, k.hash, k.name, k.display, k.scopes, k.expires_at, \
     k.revoked_at, k.last_used_at, k.replaced_by, k.created_by, k.created_at";

impl Tx {
    /// Adds a key.
    pub async fn api_key_insert(&mut self, key: &ApiKeyRecord) -> Result<(), StoreError> {
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        query(
            "INSERT INTO api_keys (id, merchant_id, livemode, hash, name, display, scopes, expires_at, revoked_at, \
             last_used_at, replaced_by, created_by, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
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
        .bind(key.last_used_at.map(Timestamp::as_ms))
        .bind(key.replaced_by.as_ref().map(KeyId::as_str))
        .bind(&key.created_by)
        .bind(key.created_at.as_ms())
        .write(&mut self.conn)
        .await?;
        self.note_written(written(key));
        Ok(())
    }

    /// One key, of any merchant.
    pub async fn api_key_get(&mut self, id: &KeyId) -> Result<Option<ApiKeyRecord>, StoreError> {
        let mut query = Query::new("SELECT ");
        query.push(COLUMNS).push(" FROM api_keys k WHERE k.id = ").push_bind(id.as_str());
        query.read_optional::<Row>(&mut self.conn).await?.as_ref().map(record).transpose()
    }

    /// Up to `limit` keys of the merchant before the one with the id `before`, newest first.
    pub async fn api_keys_page(
        &mut self,
        merchant: &MerchantId,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<ApiKeyRecord>, StoreError> {
        let mut query = Query::new("SELECT ");
        query.push(COLUMNS).push(" FROM api_keys k WHERE k.merchant_id = ").push_bind(merchant.as_str());
        if let Some(before) = before {
            query.push(" AND k.id < ").push_bind(before);
        }
        query.push(" ORDER BY k.id DESC LIMIT ").push_bind(limit);
        query.read::<Row>(&mut self.conn).await?.iter().map(record).collect()
    }

    /// Writes the end of a key: `expires_at`, `revoked_at`, `replaced_by`. No other field of it ever changes.
    pub async fn api_key_end(&mut self, key: &ApiKeyRecord) -> Result<(), StoreError> {
        let done =
            query("UPDATE api_keys SET expires_at = $2, revoked_at = $3, replaced_by = $4 WHERE id = $1")
                .bind(key.id.as_str())
                .bind(key.expires_at.map(Timestamp::as_ms))
                .bind(key.revoked_at.map(Timestamp::as_ms))
                .bind(key.replaced_by.as_ref().map(KeyId::as_str))
                .write(&mut self.conn)
                .await?;
        one_row(done, "API key")?;
        self.note_written(written(key));
        Ok(())
    }

    /// Records when keys were last used; never an earlier time than the recorded one.
    pub async fn api_keys_used(&mut self, used: &[(KeyId, Timestamp)]) -> Result<(), StoreError> {
        for (id, at) in used {
            query(
                "UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)",
            )
            .bind(id.as_str())
            .bind(at.as_ms())
            .write(&mut self.conn)
            .await?;
        }
        Ok(())
    }
}

pub(crate) fn record(row: &Row) -> Result<ApiKeyRecord, StoreError> {
    let time = |name: &str| -> Result<Option<Timestamp>, StoreError> {
        Ok(row.get::<Option<i64>>(name)?.map(Timestamp::from_ms))
    };
    let scopes: String = row.get("scopes")?;
    let hash: Vec<u8> = row.get("hash")?;
    Ok(ApiKeyRecord {
        id: KeyId::from_store(row.get("id")?),
        merchant_id: MerchantId::from_store(row.get("merchant_id")?),
        livemode: row.get("livemode")?,
        hash: hash.try_into().map_err(|_| StoreError::Broken("api_keys.hash is not 32 bytes".to_owned()))?,
        name: row.get("name")?,
        display: row.get("display")?,
        scopes: scopes.split(' ').filter_map(Scope::parse).collect(),
        expires_at: time("expires_at")?,
        revoked_at: time("revoked_at")?,
        last_used_at: time("last_used_at")?,
        replaced_by: row.get::<Option<String>>("replaced_by")?.map(KeyId::from_store),
        created_by: row.get("created_by")?,
        created_at: Timestamp::from_ms(row.get("created_at")?),
    })
}

/// Keys have no versions.
fn written(key: &ApiKeyRecord) -> Written {
    Written {
        resource_id: key.id.to_string(),
        merchant_id: Some(key.merchant_id.clone()),
        livemode: Some(key.livemode),
        before: None,
        after: None,
    }
}
