//! The keys of merchants, as the operator manages them.

use async_trait::async_trait;
use authority_domain::id::{KeyId, MerchantId};
use authority_domain::merchant::key_record::ApiKeyRecord;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// Keys of merchants.
#[async_trait]
pub trait ApiKeys {
    /// Adds a key.
    async fn api_key_insert(&mut self, key: &ApiKeyRecord) -> Result<(), StoreError>;

    /// One key, of any merchant.
    async fn api_key_get(&mut self, id: &KeyId) -> Result<Option<ApiKeyRecord>, StoreError>;

    /// Up to `limit` keys of the merchant before the one with the id `before`, newest first.
    async fn api_keys_page(
        &mut self,
        merchant: &MerchantId,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<ApiKeyRecord>, StoreError>;

    /// Writes the end of a key: `expires_at`, `revoked_at`, `replaced_by`. No other field of it ever changes.
    async fn api_key_end(&mut self, key: &ApiKeyRecord) -> Result<(), StoreError>;

    /// Records when keys were last used; never an earlier time than the recorded one.
    async fn api_keys_used(&mut self, used: &[(KeyId, Timestamp)]) -> Result<(), StoreError>;
}
