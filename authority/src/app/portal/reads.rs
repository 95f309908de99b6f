//! Reads that gather one page of the portal, of one merchant and mode alone.
//!
//! Deliveries to the platform's own endpoint carry the merchant's events and are none of its business; deliveries of an
//! endpoint that it has deleted are hidden with it, as in the API.

use authority_domain::integration_health::{EndpointFigures, LATENCY_SAMPLE, RECENT_MS};
use authority_domain::merchant::limits::ENDPOINTS_MAX;
use authority_domain::{Endpoint, EventId, Result, Tenant, Timestamp};
use authority_store::StoreError;
use authority_store::tx::Tx;

use crate::app::console::stories::{EventHistory, fates};
use crate::app::{App, Caller};

const HOUR_MS: i64 = 60 * 60 * 1000;

impl App {
    /// The merchant's endpoints with their figures, newest first.
    pub async fn portal_overview(&self, caller: &Caller) -> Result<Vec<(Endpoint, EndpointFigures)>> {
        let (tenant, now) = (caller.tenant.clone(), self.now());
        self.read_list(async move |tx| {
            let since = now.plus_ms(-RECENT_MS);
            let mut figures = tx.endpoint_figures(&tenant, now, since, LATENCY_SAMPLE).await?;
            let rows = tx.endpoints_page(&tenant, &[], None, ENDPOINTS_MAX).await?;
            let endpoint = |(_, endpoint): (i64, Endpoint)| {
                let figures = figures.remove(&endpoint.id).unwrap_or_default();
                (endpoint.seen_at(now), figures)
            };
            Ok(rows.into_iter().map(endpoint).collect())
        })
        .await
    }

    /// How many events each of the last 24 hours had, oldest first; each hour by its beginning.
    pub async fn portal_events_by_hour(&self, caller: &Caller) -> Result<Vec<(Timestamp, i64)>> {
        let (tenant, now) = (caller.tenant.clone(), self.now().as_ms());
        let this_hour = now - now.rem_euclid(HOUR_MS);
        self.read_list(async move |tx| {
            let mut firsts = Vec::new();
            for hour in 1 - RECENT_MS / HOUR_MS..=1 {
                let since = Timestamp::from_ms(this_hour + hour * HOUR_MS);
                firsts.push((since, tx.sequence_at(&tenant, since).await?));
            }
            let hours = firsts.iter().zip(firsts.iter().skip(1));
            Ok(hours.map(|((since, first), (_, next))| (*since, next - first)).collect())
        })
        .await
    }

    /// What became of one event at the merchant's endpoints.
    pub async fn portal_event(&self, caller: &Caller, id: EventId) -> Result<EventHistory> {
        let tenant = caller.tenant.clone();
        self.read_list(async move |tx| {
            let body = tx.event_body(&tenant, &id).await?.ok_or_else(EventId::missing)?;
            let history = fates(tx, &tenant, vec![body]).await?;
            Ok(own(tx, &tenant, history).await?)
        })
        .await
    }
}

/// The same history without what is not the tenant's.
async fn own(tx: &mut Tx, tenant: &Tenant, mut history: EventHistory) -> Result<EventHistory, StoreError> {
    let mut own = Vec::new();
    for id in std::mem::take(&mut history.urls) {
        if tx.endpoint_get(tenant, &id.0).await?.is_some() {
            own.push(id);
        }
    }
    history.urls = own.into_iter().collect();
    history
        .deliveries
        .retain(|found| found.owner == *tenant && history.urls.contains_key(&found.delivery.endpoint_id));
    let deliveries = &history.deliveries;
    history
        .attempts
        .retain(|attempt| deliveries.iter().any(|found| found.delivery.id == attempt.delivery_id));
    Ok(history)
}
