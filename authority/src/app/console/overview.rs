//! What is wrong now: one read for the console's first page, and the figures of one endpoint.

use authority_domain::integration_health::{EndpointFigures, LATENCY_SAMPLE, RECENT_MS};
use authority_domain::{EndpointId, Result, Tenant};
use authority_store::tx::{FoundEndpoint, HourFigures, Outbox};

use crate::app::App;

/// Endpoints of each kind of trouble, and endpoints with a backlog.
const NAMED: i64 = 10;

/// The service as a whole.
#[derive(Clone, Debug)]
pub struct Overview {
    /// The backlog of all merchants, and the endpoints that have the largest.
    pub outbox: Outbox,
    /// Endpoints that fail or were disabled.
    pub troubled: Vec<FoundEndpoint>,
    /// What happened and was sent in the last day, hour by hour.
    pub hours: Vec<HourFigures>,
}

/// One endpoint's last day.
#[derive(Clone, Debug, Default)]
pub struct EndpointDay {
    /// Backlog, attempts and latencies.
    pub figures: EndpointFigures,
    /// What was sent to it, hour by hour.
    pub hours: Vec<HourFigures>,
}

impl App {
    /// What the first page shows beside the open alerts.
    pub async fn overview(&self) -> Result<Overview> {
        let now = self.now();
        let since = now.plus_ms(-RECENT_MS);
        self.read_list(async move |tx| {
            Ok(Overview {
                outbox: tx.outbox(now, NAMED).await?,
                troubled: tx.endpoints_in_trouble(NAMED).await?,
                hours: tx.hours_since(None, since).await?,
            })
        })
        .await
    }

    /// The last day of an endpoint.
    pub async fn endpoint_day(&self, owner: &Tenant, id: &EndpointId) -> Result<EndpointDay> {
        let now = self.now();
        let (owner, id) = (owner.clone(), id.clone());
        self.read_list(async move |tx| {
            let since = now.plus_ms(-RECENT_MS);
            let mut figures = tx.endpoint_figures(&owner, now, since, LATENCY_SAMPLE).await?;
            Ok(EndpointDay {
                figures: figures.remove(&id).unwrap_or_default(),
                hours: tx.hours_since(Some((&owner, &id)), since).await?,
            })
        })
        .await
    }
}
