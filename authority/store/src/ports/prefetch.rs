//! What a job says of itself before it runs.

use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::KeyScope;

/// What a job will ask for first, so that it can be fetched for all jobs that wait together. It may ask for anything
/// else, and need not ask for this.
#[derive(Clone, Debug)]
pub struct Prefetch {
    /// The merchant and mode it is about.
    pub tenant: Option<Tenant>,
    /// Its idempotency key.
    pub key: Option<(KeyScope, String)>,
    /// When it was asked for.
    pub now: Timestamp,
}
