//! What a job says of itself before it runs.

use authority_domain::id::MerchantId;

use super::KeyScope;

/// What a job will ask for first, so that it can be fetched for all jobs that wait together. It may ask for anything
/// else, and need not ask for this.
#[derive(Clone, Debug, Default)]
pub struct Ahead {
    /// The merchant it is about.
    pub merchant: Option<MerchantId>,
    /// Its idempotency key.
    pub key: Option<(KeyScope, String)>,
}
