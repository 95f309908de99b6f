//! Everything in the database that is sealed under the key-encryption key, page by page: for changing that key
//! (`authority secrets rewrap`) and for the doctor.
//!
//! A value is replaced only while it is still the one that was read, so that no newer value is overwritten.

use async_trait::async_trait;
use authority_domain::id::EndpointId;

use super::SealedSecret;
use crate::StoreError;

/// What is sealed of an endpoint beside its signing secrets, one value each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedOption {
    /// The headers that go with its deliveries.
    RequestHeaders,
    /// The certificates that its deliveries show, with their private key.
    ClientCertificate,
}

impl SealedOption {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::RequestHeaders, Self::ClientCertificate];
}

/// A position in the list of signing secrets.
pub type SecretPosition = (EndpointId, i64);

/// A position in the list of stored answers: merchant (or the operator's word for it), mode, key.
pub type AnswerPosition = (String, bool, String);

/// Sealed values.
#[async_trait]
pub trait Sealed {
    /// Up to `limit` signing secrets after `after`, by endpoint and version.
    async fn sealed_secrets(
        &mut self,
        after: Option<&SecretPosition>,
        limit: i64,
    ) -> Result<Vec<(EndpointId, SealedSecret)>, StoreError>;

    /// Replaces a signing secret's ciphertext; false when it is no longer `old`.
    async fn sealed_secret_replace(
        &mut self,
        place: &SecretPosition,
        old: &[u8],
        new: &[u8],
    ) -> Result<bool, StoreError>;

    /// Up to `limit` values of this option after `after`, by endpoint.
    async fn sealed_options(
        &mut self,
        option: SealedOption,
        after: Option<&EndpointId>,
        limit: i64,
    ) -> Result<Vec<(EndpointId, Vec<u8>)>, StoreError>;

    /// Replaces the ciphertext of an endpoint's option; false when it is no longer `old`.
    async fn sealed_option_replace(
        &mut self,
        option: SealedOption,
        endpoint: &EndpointId,
        old: &[u8],
        new: &[u8],
    ) -> Result<bool, StoreError>;

    /// Up to `limit` stored answers with a sealed body after `after`, by position.
    async fn sealed_answers(
        &mut self,
        after: Option<&AnswerPosition>,
        limit: i64,
    ) -> Result<Vec<(AnswerPosition, String)>, StoreError>;

    /// Replaces a stored answer; false when it is no longer `old`.
    async fn sealed_answer_replace(
        &mut self,
        place: &AnswerPosition,
        old: &str,
        new: &str,
    ) -> Result<bool, StoreError>;
}
