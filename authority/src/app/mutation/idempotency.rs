//! A request under an idempotency key that was used before: the stored answer again, or a refusal (contract 4.3).

use std::sync::Arc;

use authority_domain::{ErrorCode, Refusal, Result};
use authority_store::tx::MadeUnderKey;

use crate::app::Answer;
use crate::secret_box::SecretBox;

/// Identifies a logical write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// As the client sent it, unquoted.
    pub key: String,
    /// SHA-256 over the contents of the request.
    pub fingerprint: [u8; 32],
}

/// The stored answer, if this is the request that it was given to.
pub(super) fn replay(
    key: &IdempotencyKey,
    fingerprint: [u8; 32],
    answer: &str,
    secrets: &Arc<SecretBox>,
) -> Result<Answer> {
    if fingerprint != key.fingerprint {
        return Err(reused());
    }
    Answer::replay(answer, &key.key, secrets)
}

/// The record that an earlier request with this key created, provided that `is_about` accepts it. Such a record
/// stores its key and fingerprint longer than the answer is stored (contract 4.3, 18.1).
pub(in crate::app) fn made_before<T>(
    key: &IdempotencyKey,
    made: MadeUnderKey<T>,
    is_about: impl FnOnce(&T) -> bool,
) -> Result<T> {
    // Records created before fingerprints were stored can only be compared by `is_about`.
    let same = made.fingerprint.as_ref().is_none_or(|before| before.as_slice() == key.fingerprint);
    if same && is_about(&made.record) { Ok(made.record) } else { Err(reused()) }
}

fn reused() -> Refusal {
    let detail = "This Idempotency-Key was used before, for another request.";
    Refusal::new(ErrorCode::IdempotencyKeyReused, detail).param("Idempotency-Key")
}
