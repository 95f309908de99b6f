//! Authentication: from the hash of a key to the key and its owner.

use authority_domain::merchant::key_record::ApiKeyRecord;
use authority_domain::{KeyId, Merchant, OperatorScope, Timestamp};

use crate::sql::merchant::api_keys::{COLUMNS, record};
use crate::sql::{Query, Result, Row, StoreError, Tx, fields, query};

/// An operator's key as it is stored.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct OperatorKeyRecord {
    pub id: KeyId,
    pub hash: [u8; 32],
    pub name: String,
    pub display: String,
    pub scopes: Vec<OperatorScope>,
    pub revoked_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

impl Tx {
    /// The key with this hash and its merchant.
    pub async fn api_key_by_hash(&mut self, hash: &[u8; 32]) -> Result<Option<(ApiKeyRecord, Merchant)>> {
        let mut query = Query::new("SELECT ");
        query
            .push(COLUMNS)
            .push(", m.body AS merchant FROM api_keys k JOIN merchants m ON m.id = k.merchant_id");
        query.push(" WHERE k.hash = ").push_bind(hash.as_slice());
        query.read_optional_as(&mut self.conn, |row| Ok((record(row)?, row.record("merchant")?))).await
    }

    /// Adds an operator key.
    pub async fn operator_key_insert(&mut self, key: &OperatorKeyRecord) -> Result<()> {
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        query(
            "INSERT INTO operator_keys (id, hash, name, display, scopes, revoked_at, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .binds((key.id.as_str(), key.hash.as_slice(), &key.name, &key.display, scopes.join(" ")))
        .binds((key.revoked_at.map(Timestamp::as_ms), key.created_at.as_ms()))
        .run(&mut self.conn)
        .await
    }

    /// The operator key with this hash.
    pub async fn operator_key_by_hash(&mut self, hash: &[u8; 32]) -> Result<Option<OperatorKeyRecord>> {
        query(
            "SELECT id, hash, name, display, scopes, revoked_at, created_at FROM operator_keys WHERE hash = $1",
        )
        .bind(hash.as_slice())
        .read_optional_as(&mut self.conn, operator_key).await
    }

    /// Every operator key, newest first; there are few.
    pub async fn operator_keys(&mut self) -> Result<Vec<OperatorKeyRecord>> {
        query(
            "SELECT id, hash, name, display, scopes, revoked_at, created_at FROM operator_keys ORDER BY id DESC",
        )
        .read_as(&mut self.conn, operator_key).await
    }

    /// Ends an operator key; false when there is none to end.
    pub async fn operator_key_revoke(&mut self, id: &KeyId, now: Timestamp) -> Result<bool> {
        query("UPDATE operator_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL")
            .binds((id.as_str(), now.as_ms()))
            .touches_any(&mut self.conn)
            .await
    }
}

pub(crate) fn operator_key(row: &Row) -> Result<OperatorKeyRecord> {
    let scopes: String = row.get("scopes")?;
    let hash: Vec<u8> = row.get("hash")?;
    Ok(fields!(row => OperatorKeyRecord {
        id, name, display, revoked_at, created_at;
        hash: hash
            .try_into()
            .map_err(|_| StoreError::Broken("operator_keys.hash has not 32 bytes".to_owned()))?,
        scopes: scopes.split(' ').filter_map(OperatorScope::parse).collect(),
    }))
}
