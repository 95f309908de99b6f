//! Everything that lies in the database sealed under the key-encryption key, page by page: for its change
//! (`authority secrets rewrap`) and for the doctor.
//!
//! What is replaced must still be what was read, so that nobody's newer value is overwritten.

use async_trait::async_trait;
use authority_domain::id::EndpointId;

use super::SealedSecret;
use crate::StoreError;

/// A place in the list of signing secrets.
pub type SecretPosition = (EndpointId, i64);

/// A place in the list of kept answers: merchant (or the operator's word for it), mode, key.
pub type AnswerPosition = (String, bool, String);

/// Sealed things.
#[async_trait]
pub trait Sealed {
    /// Up to `limit` signing secrets after `after`, by endpoint and version.
    async fn sealed_secrets(
        &mut self,
        after: Option<&SecretPosition>,
        limit: i64,
    ) -> Result<Vec<(EndpointId, SealedSecret)>, StoreError>;

    /// Replaces a signing secret's ciphertext; false when it is not `old` any more.
    async fn sealed_secret_replace(
        &mut self,
        place: &SecretPosition,
        old: &[u8],
        new: &[u8],
    ) -> Result<bool, StoreError>;

    /// Up to `limit` kept answers with a sealed body after `after`, by place.
    async fn sealed_answers(
        &mut self,
        after: Option<&AnswerPosition>,
        limit: i64,
    ) -> Result<Vec<(AnswerPosition, String)>, StoreError>;

    /// Replaces a kept answer; false when it is not `old` any more.
    async fn sealed_answer_replace(
        &mut self,
        place: &AnswerPosition,
        old: &str,
        new: &str,
    ) -> Result<bool, StoreError>;
}
