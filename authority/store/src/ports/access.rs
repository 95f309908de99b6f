//! Merchants and keys: who exists, and who is asking.

use async_trait::async_trait;
use authority_domain::id::{KeyId, MerchantId};
use authority_domain::merchant::Merchant;
use authority_domain::scope::{OperatorScope, Scope};
use authority_domain::time::Timestamp;

use crate::StoreError;

/// A merchant's API key as it is stored: the SHA-256 of the whole string, never the string (contract 1.2).
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the members are those of contract 2.11
pub struct ApiKeyRecord {
    pub id: KeyId,
    pub merchant_id: MerchantId,
    pub livemode: bool,
    pub hash: [u8; 32],
    pub name: String,
    pub display: String,
    pub scopes: Vec<Scope>,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    pub created_by: String,
    pub created_at: Timestamp,
}

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

/// Merchants and keys.
#[async_trait]
pub trait Access {
    /// Adds a merchant.
    ///
    /// # Errors
    /// [`Conflict(MerchantSlug)`](crate::Constraint::MerchantSlug) when the slug is taken.
    async fn merchant_insert(&mut self, merchant: &Merchant) -> Result<(), StoreError>;

    /// One merchant.
    async fn merchant_get(&mut self, id: &MerchantId) -> Result<Option<Merchant>, StoreError>;

    /// Adds a merchant key.
    async fn api_key_insert(&mut self, key: &ApiKeyRecord) -> Result<(), StoreError>;

    /// The key with this hash and its merchant.
    async fn api_key_by_hash(
        &mut self,
        hash: &[u8; 32],
    ) -> Result<Option<(ApiKeyRecord, Merchant)>, StoreError>;

    /// Adds an operator key.
    async fn operator_key_insert(&mut self, key: &OperatorKeyRecord) -> Result<(), StoreError>;

    /// The operator key with this hash.
    async fn operator_key_by_hash(
        &mut self,
        hash: &[u8; 32],
    ) -> Result<Option<OperatorKeyRecord>, StoreError>;
}
