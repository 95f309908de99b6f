//! What a job declares before it runs.

use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::KeyScope;

/// What a job will read first, so that it can be read for all queued jobs together. The job may read anything else,
/// and need not read this.
#[derive(Clone, Debug)]
pub struct Prefetch {
    /// The merchant and mode it is about.
    pub tenant: Option<Tenant>,
    /// Its idempotency key.
    pub key: Option<(KeyScope, String)>,
    /// The time of the request.
    pub now: Timestamp,
}
