//! The record of a merchant's API key: everything known about a key except the key itself (contract 2.11, 6.2).
//!
//! A key is issued, used, and ends in one of three ways: it expires, it is replaced by another and keeps working for
//! an overlap, or it is revoked. The status is not stored but derived from three times and the present time, so that
//! no task has to record that a time has passed. Deliberately absent: the key itself.

use crate::error_code::ErrorCode;
use crate::id::{KeyId, MerchantId};
use crate::merchant::ApiKeyRotation;
use crate::merchant::api_key::ApiKey;
use crate::merchant::scope::Scope;
use crate::refusal::{Refusal, Result};
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// Whether a key works, and for how long.
    KeyStatus {
        /// It works.
        Active = "active",
        /// It works until its end; another has replaced it.
        Expiring = "expiring",
        /// Its time is over.
        Expired = "expired",
        /// It was taken back.
        Revoked = "revoked",
    }
}

/// The record, with the SHA-256 of the whole key by which a request finds it (contract 1.2).
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Written once a minute at most, and a little later than it happened.
    pub last_used_at: Option<Timestamp>,
    pub replaced_by: Option<KeyId>,
    pub created_by: String,
    pub created_at: Timestamp,
}

impl ApiKeyRecord {
    /// Where the key stands at `now`.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> KeyStatus {
        if self.revoked_at.is_some() {
            KeyStatus::Revoked
        } else if self.expires_at.is_some_and(|at| at <= now) {
            KeyStatus::Expired
        } else if self.replaced_by.is_some() {
            KeyStatus::Expiring
        } else {
            KeyStatus::Active
        }
    }

    /// Replaces the key by `key`, whose record gets `id`: returns the old record and the new one. The new key takes
    /// over everything that `rotation` does not change; the old one works until the overlap's end or its own,
    /// whichever comes first.
    ///
    /// # Errors
    /// `rotation_in_progress` for a key that was replaced before and still works; `invalid_state_transition` for one
    /// that does not work any more.
    pub fn replace(
        &self,
        id: KeyId,
        key: &ApiKey,
        rotation: ApiKeyRotation,
        created_by: String,
        now: Timestamp,
    ) -> Result<(Self, Self)> {
        match self.status(now) {
            KeyStatus::Active => {}
            KeyStatus::Expiring => {
                let detail = "The key was replaced before; rotate the key that replaced it.";
                return Err(Refusal::new(ErrorCode::RotationInProgress, detail));
            }
            ended @ (KeyStatus::Expired | KeyStatus::Revoked) => {
                let detail = "A key that has ended cannot be replaced; issue another.";
                return Err(Refusal::transition(ended.as_str(), KeyStatus::Expiring.as_str(), detail));
            }
        }
        let end = now.plus_ms(rotation.overlap_ms);
        let old = Self {
            expires_at: Some(self.expires_at.map_or(end, |at| at.min(end))),
            replaced_by: Some(id.clone()),
            ..self.clone()
        };
        let new = Self {
            id,
            hash: key.hash(),
            display: key.display(),
            scopes: rotation.scopes.unwrap_or_else(|| self.scopes.clone()),
            expires_at: rotation.expires_at.unwrap_or(self.expires_at),
            last_used_at: None,
            created_by,
            created_at: now,
            ..self.clone()
        };
        Ok((old, new))
    }

    /// The key after it was revoked; unchanged when it was revoked before.
    #[must_use]
    pub fn revoke(self, now: Timestamp) -> Self {
        Self { revoked_at: self.revoked_at.or(Some(now)), ..self }
    }
}
