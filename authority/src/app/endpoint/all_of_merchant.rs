//! A merchant's endpoints for tools with direct database access: all of them at once, since there are few.

use authority_domain::merchant::limits::ENDPOINTS_MAX;
use authority_domain::{Result, Tenant};

use crate::app::App;
use crate::app::lists::written;

impl App {
    /// Every endpoint of the tenant as JSON text, newest first.
    pub async fn endpoints_of(&self, tenant: Tenant) -> Result<Vec<String>> {
        let read = self.read_list(async move |tx| tx.endpoints_page(&tenant, &[], None, ENDPOINTS_MAX).await);
        let (endpoints, now) = (read.await?, self.now());
        endpoints.into_iter().map(|(_, endpoint)| written(endpoint.seen_at(now))).collect()
    }
}
