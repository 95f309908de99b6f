//! When keys were last used (contract 2.11), recorded without a write during the request.
//!
//! A request notes its key in memory. A task ([`crate::background::key_use`]) writes the noted uses once a minute, and
//! once more when the service stops, so that a key's `last_used_at` is written at most once a minute. A process that
//! crashes loses what it had noted: the time only helps people find keys that are no longer used.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use authority_domain::{KeyId, Timestamp};
use authority_store::StoreError;
use authority_store::shards::Turns;
use authority_store::tx::Tx;

use crate::app::App;

/// Keys per transaction.
const KEYS_MAX: usize = 256;

/// The keys that were used since the last write.
#[derive(Default)]
pub struct KeyUse {
    seen: Mutex<HashMap<KeyId, Timestamp>>,
}

impl KeyUse {
    /// Notes that a request used this key.
    pub fn note(&self, key: &KeyId, now: Timestamp) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match seen.get_mut(key) {
            Some(at) => *at = now.max(*at),
            None => {
                seen.insert(key.clone(), now);
            }
        }
    }

    fn take(&self) -> Vec<(KeyId, Timestamp)> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }
}

impl App {
    /// Writes the noted uses.
    pub async fn flush_key_use(&self) {
        for used in self.key_use.take().chunks(KEYS_MAX) {
            let used = used.to_vec();
            let written: Result<(), StoreError> = self
                .store
                .write_with(Turns::NONE, move |tx: &mut Tx| {
                    Box::pin(async move { tx.api_keys_used(&used).await })
                })
                .await;
            if let Err(error) = written {
                tracing::warn!(error = %error, "the last use of keys could not be written");
            }
        }
    }
}
