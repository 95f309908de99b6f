//! The keys of merchants, as the operator manages them and each merchant sees its own.

use authority_domain::merchant::key_record::ApiKeyRecord;
use authority_domain::{KeyId, MerchantId, Scope, Tenant, Timestamp};

use crate::sql::transaction::tx::Written;
use crate::sql::{Kind, Query, Result, Row, ShardSet, StoreError, Tx, fields, query, row};

/// What [`record`] reads, from `api_keys` under the name `k`.
pub(crate) const COLUMNS: &str = "k.id, k.merchant_id, k.livemode, k.hash, k.name, k.display, k.scopes, k.expires_at, \
     k.revoked_at, k.last_used_at, k.replaced_by, k.created_by, k.created_at";

impl Tx {
    /// Adds a key.
    pub async fn api_key_insert(&mut self, key: &ApiKeyRecord) -> Result<()> {
        self.need_turns(ShardSet::of(&key.merchant_id))?;
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        query(
            "INSERT INTO api_keys (id, merchant_id, livemode, hash, name, display, scopes, expires_at, revoked_at, \
             last_used_at, replaced_by, created_by, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        )
        .binds((key.id.as_str(), key.merchant_id.as_str(), key.livemode, key.hash.as_slice(), &key.name))
        .binds((&key.display, scopes.join(" "), key.expires_at.map(Timestamp::as_ms)))
        .binds((key.revoked_at.map(Timestamp::as_ms), key.last_used_at.map(Timestamp::as_ms)))
        .binds((key.replaced_by.as_ref().map(KeyId::as_str), &key.created_by, key.created_at.as_ms()))
        .write_beside_cache(&mut self.conn)
        .await?;
        self.note_written(written(key));
        Ok(())
    }

    /// One key, of any merchant.
    pub async fn api_key_get(&mut self, id: &KeyId) -> Result<Option<ApiKeyRecord>> {
        let mut query = Query::new("SELECT ");
        query.push(COLUMNS).push(" FROM api_keys k WHERE k.id = ").push_bind(id.as_str());
        query.read_optional_as(&mut self.conn, record).await
    }

    /// Up to `limit` keys of the merchant, of both modes, before the one with the id `before`, newest first.
    pub async fn api_keys_page(
        &mut self,
        merchant: &MerchantId,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<ApiKeyRecord>> {
        self.keys_page(merchant, None, before, limit).await
    }

    /// The same of one mode alone.
    pub async fn api_keys_page_of(
        &mut self,
        tenant: &Tenant,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<ApiKeyRecord>> {
        self.keys_page(&tenant.merchant_id, Some(tenant.livemode), before, limit).await
    }

    async fn keys_page(
        &mut self,
        merchant: &MerchantId,
        livemode: Option<bool>,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<ApiKeyRecord>> {
        let mut query = Query::new("SELECT ");
        query.push(COLUMNS).push(" FROM api_keys k WHERE k.merchant_id = ").push_bind(merchant.as_str());
        query.push_some(" AND k.livemode = ", livemode).push_some(" AND k.id < ", before);
        query.push(" ORDER BY k.id DESC LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, record).await
    }

    /// Writes the end of a key: `expires_at`, `revoked_at`, `replaced_by`. No other field of it ever changes.
    pub async fn api_key_end(&mut self, key: &ApiKeyRecord) -> Result<()> {
        self.need_turns(ShardSet::of(&key.merchant_id))?;
        query("UPDATE api_keys SET expires_at = $2, revoked_at = $3, replaced_by = $4 WHERE id = $1")
            .binds((key.id.as_str(), key.expires_at.map(Timestamp::as_ms)))
            .binds((key.revoked_at.map(Timestamp::as_ms), key.replaced_by.as_ref().map(KeyId::as_str)))
            .write_one_beside_cache(&mut self.conn, "API key")
            .await?;
        self.note_written(written(key));
        Ok(())
    }

    /// Records when keys were last used, each named once; never an earlier time than the recorded one.
    pub async fn api_keys_used(&mut self, used: &[(KeyId, Timestamp)]) -> Result<()> {
        // Two instances write in one order, and so do not wait for each other's rows in a circle.
        let mut used: Vec<_> = used.iter().map(|(id, at)| (id.as_str(), at.as_ms())).collect();
        used.sort_unstable();
        let mut query = Query::new("UPDATE api_keys SET last_used_at = v.column2 FROM (");
        query.push_rows(
            &[Kind::Text, Kind::Int],
            used.into_iter().map(|(id, at)| row!(id, at).into()).collect(),
        );
        query.push(
            ") AS v WHERE api_keys.id = v.column1 \
             AND (api_keys.last_used_at IS NULL OR api_keys.last_used_at < v.column2)",
        );
        query.write_beside_cache(&mut self.conn).await?;
        Ok(())
    }
}

pub(crate) fn record(row: &Row) -> Result<ApiKeyRecord> {
    let scopes: String = row.get("scopes")?;
    let hash: Vec<u8> = row.get("hash")?;
    Ok(fields!(row => ApiKeyRecord {
        id, merchant_id, livemode, name, display, expires_at, revoked_at, last_used_at, replaced_by,
        created_by, created_at;
        hash: hash.try_into().map_err(|_| StoreError::Broken("api_keys.hash is not 32 bytes".to_owned()))?,
        scopes: scopes.split(' ').filter_map(Scope::parse).collect(),
    }))
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
