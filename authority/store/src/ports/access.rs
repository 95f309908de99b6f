//! Authentication: from the hash of a key to the key and its owner.

use async_trait::async_trait;
use authority_domain::id::KeyId;
use authority_domain::merchant::Merchant;
use authority_domain::merchant::key_record::ApiKeyRecord;
use authority_domain::merchant::scope::OperatorScope;
use authority_domain::time::Timestamp;

use crate::StoreError;

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

/// Keys by their hashes.
#[async_trait]
pub trait Access {
    /// The key with this hash and its merchant.
    async fn api_key_by_hash(
        &mut self,
        hash: &[u8; 32],
    ) -> Result<Option<(ApiKeyRecord, Merchant)>, StoreError>;

    /// Adds an operator key.
    async fn operator_key_insert(&mut self, key: &OperatorKeyRecord) -> Result<(), StoreError>;

    /// Every operator key, newest first; there are few.
    async fn operator_keys(&mut self) -> Result<Vec<OperatorKeyRecord>, StoreError>;

    /// Ends an operator key; false when there is none to end.
    async fn operator_key_revoke(&mut self, id: &KeyId, now: Timestamp) -> Result<bool, StoreError>;

    /// The operator key with this hash.
    async fn operator_key_by_hash(
        &mut self,
        hash: &[u8; 32],
    ) -> Result<Option<OperatorKeyRecord>, StoreError>;
}
