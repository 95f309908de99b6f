//! The operator's summary of what waits to be delivered (contract 6.2, 2.12 `outbox`).

use authority_domain::endpoint::HealthState;
use authority_domain::id::{EndpointId, MerchantId};
use authority_domain::integration_health::RECENT_MS;
use authority_domain::refusal::Refusal;
use authority_domain::time::Timestamp;
use authority_store::StoreError;
use authority_store::ports::{Backlog, OutboxFigures, Tx};
use serde::Serialize;

use super::{Answer, App};

/// Endpoints that are named: those for which most waits.
const NAMED: i64 = 20;

#[derive(Serialize)]
#[serde(tag = "object", rename = "outbox")]
struct Outbox<'a> {
    generated_at: Timestamp,
    pending: i64,
    due_now: i64,
    scheduled_retries: i64,
    failed_24h: i64,
    oldest_pending_at: Option<Timestamp>,
    oldest_pending_age_seconds: Option<i64>,
    endpoints: Vec<OfEndpoint<'a>>,
}

#[derive(Serialize)]
struct OfEndpoint<'a> {
    endpoint_id: &'a EndpointId,
    /// `None` for the platform's own endpoint.
    merchant_id: Option<&'a MerchantId>,
    livemode: Option<bool>,
    state: HealthState,
    consecutive_failures: i64,
    pending: i64,
    due_now: i64,
    oldest_pending_at: Timestamp,
}

impl<'a> OfEndpoint<'a> {
    fn new(backlog: &'a Backlog) -> Self {
        let platform = backlog.owner.is_operator();
        Self {
            endpoint_id: &backlog.endpoint_id,
            merchant_id: (!platform).then_some(&backlog.owner.merchant_id),
            livemode: (!platform).then_some(backlog.owner.livemode),
            state: backlog.state,
            consecutive_failures: backlog.consecutive_failures,
            pending: backlog.pending,
            due_now: backlog.due,
            oldest_pending_at: backlog.oldest_pending_at,
        }
    }
}

impl App {
    /// `GET /outbox`.
    ///
    /// # Errors
    /// Only what the store reports.
    pub async fn outbox(&self) -> Result<Answer, Refusal> {
        let now = self.now();
        let (figures, backlogs): (OutboxFigures, Vec<Backlog>) = self
            .store
            .read_list(move |tx: &mut dyn Tx| {
                Box::pin(async move {
                    let figures = tx.outbox_figures(now, now.plus_ms(-RECENT_MS)).await?;
                    Ok::<_, StoreError>((figures, tx.backlogs(now, NAMED).await?))
                })
            })
            .await
            .map_err(Refusal::from)?;
        let age = |at: Timestamp| now.as_ms().saturating_sub(at.as_ms()).max(0) / 1000;
        let outbox = Outbox {
            generated_at: now,
            pending: figures.pending,
            due_now: figures.due,
            scheduled_retries: figures.pending - figures.due,
            failed_24h: figures.failed,
            oldest_pending_at: figures.oldest_pending_at,
            oldest_pending_age_seconds: figures.oldest_pending_at.map(age),
            endpoints: backlogs.iter().map(OfEndpoint::new).collect(),
        };
        Answer::record(200, &outbox)
    }
}
