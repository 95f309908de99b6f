//! The stored part of a request: the answer under its idempotency key.

use async_trait::async_trait;
use authority_domain::id::RequestId;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// The scope within which an idempotency key names one write (contract 4.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyScope {
    /// A merchant's requests in one mode, whichever of its API keys they use.
    Merchant(Tenant),
    /// The operator's requests about one merchant in one mode.
    OperatorFor(Tenant),
    /// The operator's other requests.
    Operator,
}

/// The answer that a repeated request gets (contract 2.15).
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct IdempotencyRecord {
    pub scope: KeyScope,
    pub key: String,
    pub fingerprint: [u8; 32],
    pub operation: &'static str,
    /// The answer as JSON text; its shape belongs to the application.
    pub answer: String,
    pub request_id: RequestId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// A record with the key of the request that made it, which is stored for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeUnderKey<T> {
    /// The record as it is now.
    pub record: T,
    /// The fingerprint of the request; `None` where that was not stored yet.
    pub fingerprint: Option<Vec<u8>>,
}

/// Idempotency.
#[async_trait]
pub trait Requests {
    /// Returns fingerprint and answer under a key that has not expired.
    async fn idempotency_get(
        &mut self,
        scope: &KeyScope,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<([u8; 32], String)>, StoreError>;

    /// Stores an answer; replaces one that has expired.
    async fn idempotency_insert(&mut self, record: &IdempotencyRecord) -> Result<(), StoreError>;

    /// Keeps the idempotency key and its request's fingerprint for ever with the refund or shipment of this id, which
    /// this transaction makes after the call (contract 4.3).
    fn idempotency_key_keep(&mut self, record_id: &str, key: &str, fingerprint: &[u8; 32]);

    /// Removes up to `limit` answers that have expired; returns how many.
    async fn idempotency_purge(&mut self, now: Timestamp, limit: i64) -> Result<u64, StoreError>;
}
