//! A merchant's endpoints for tools with direct database access: all of them at once, since there are few.

use authority_domain::merchant::limits::ENDPOINTS_MAX;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use authority_store::StoreError;
use authority_store::tx::Tx;

use crate::app::App;

impl App {
    /// Every endpoint of the tenant as JSON text, newest first.
    ///
    /// # Errors
    /// `service_unavailable`.
    pub async fn endpoints_of(&self, tenant: Tenant) -> Result<Vec<String>, Refusal> {
        let endpoints = self
            .store
            .read_list(move |tx: &mut Tx| {
                Box::pin(async move { tx.endpoints_page(&tenant, &[], None, ENDPOINTS_MAX).await })
            })
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        let now = self.now();
        endpoints
            .into_iter()
            .map(|(_, endpoint)| {
                serde_json::to_string(&endpoint.seen_at(now)).map_err(|_| Refusal::internal())
            })
            .collect()
    }
}
