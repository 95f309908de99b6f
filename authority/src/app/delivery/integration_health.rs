//! How well events reach a merchant (contract 2.12): read in one transaction, judged by the domain.

use authority_domain::integration_health::{IntegrationHealth, LATENCY_SAMPLE, Observed, RECENT_MS};
use authority_domain::merchant::limits::ENDPOINTS_MAX;
use authority_domain::sync::checkpoint::CHECKPOINTS_MAX;
use authority_domain::{Result, Scope};
use authority_store::StoreError;

use crate::app::{Answer, App, Caller};

/// Most open alerts in one answer: more than 16 endpoints can have conditions for.
const ALERTS_MAX: i64 = 200;

impl App {
    /// `GET /integration-health`.
    pub async fn integration_health(&self, caller: &Caller) -> Result<Answer> {
        let tenant = caller.tenant.clone();
        let now = self.now();
        let sees_checkpoints = caller.check_scope(&[Scope::SyncRead]).is_ok();
        let observed = self
            .read_list(async move |tx| {
                let since = now.plus_ms(-RECENT_MS);
                let mut figures = tx.endpoint_figures(&tenant, now, since, LATENCY_SAMPLE).await?;
                let mut rows = tx.endpoints_page(&tenant, &[], None, ENDPOINTS_MAX).await?;
                rows.reverse();
                let alerts = tx.alerts_open(Some(&tenant), ALERTS_MAX).await?;
                let checkpoints = if sees_checkpoints {
                    let rows = tx.checkpoints_page(&tenant, &[], None, None, CHECKPOINTS_MAX).await?;
                    Some(rows.into_iter().map(|(_, checkpoint)| checkpoint).collect())
                } else {
                    None
                };
                let range = tx.stream_range(&tenant).await?;
                let endpoints = rows
                    .into_iter()
                    .map(|(_, endpoint)| {
                        let figures = figures.remove(&endpoint.id).unwrap_or_default();
                        (endpoint, figures)
                    })
                    .collect();
                Ok::<_, StoreError>(Observed {
                    tenant,
                    endpoints,
                    alerts,
                    latest_sequence: range.latest,
                    oldest_retained_sequence: range.oldest,
                    checkpoints,
                })
            })
            .await?;
        Answer::record(200, &IntegrationHealth::of(observed, now))
    }
}
