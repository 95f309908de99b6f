//! The operator's summary of the delivery backlog (contract 6.2, 2.12 `outbox`).

use authority_domain::endpoint::HealthState;
use authority_domain::integration_health::RECENT_MS;
use authority_domain::{EndpointId, MerchantId, Result, Timestamp};
use authority_store::StoreError;
use authority_store::tx::{Backlog, Outbox as Found};
use serde::Serialize;

use crate::app::{Answer, App};

/// Most endpoints listed by name: those with the largest backlog.
const NAMED: i64 = 20;

/// The delivery backlog of all merchants.
#[derive(Serialize)]
#[serde(tag = "object", rename = "outbox")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PlatformOutbox"))]
pub(in crate::app) struct Outbox<'a> {
    /// When this was counted.
    generated_at: Timestamp,
    /// Deliveries that have not ended.
    pending: i64,
    /// Of these, those whose next attempt is due.
    due_now: i64,
    /// Of these, those whose next attempt is later.
    scheduled_retries: i64,
    /// Deliveries that failed within 24 hours, which begin with the hour (of the clock) in which they began.
    failed_24h: i64,
    /// When the oldest delivery that has not ended was created.
    oldest_pending_at: Option<Timestamp>,
    /// Its age, in seconds.
    oldest_pending_age_seconds: Option<i64>,
    /// The endpoints with the largest backlog, at most 20.
    endpoints: Vec<OfEndpoint<'a>>,
}

/// The backlog of one endpoint.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OutboxEndpoint"))]
struct OfEndpoint<'a> {
    /// The endpoint.
    endpoint_id: &'a EndpointId,
    /// The merchant it belongs to; null for the platform's own endpoint.
    merchant_id: Option<&'a MerchantId>,
    /// Its mode; null for the platform's own endpoint.
    livemode: Option<bool>,
    /// Its health.
    state: HealthState,
    /// Failed attempts since the last successful one.
    consecutive_failures: i64,
    /// Deliveries that have not ended.
    pending: i64,
    /// Of these, those whose next attempt is due.
    due_now: i64,
    /// When the oldest of them was created.
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
    pub async fn outbox(&self) -> Result<Answer> {
        let now = self.now();
        let (Found { figures, endpoints }, failed_24h) = self
            .read_list(async move |tx| {
                Ok::<_, StoreError>((
                    tx.outbox(now, NAMED).await?,
                    tx.failed_since(now.plus_ms(-RECENT_MS)).await?,
                ))
            })
            .await?;
        let age = |at: Timestamp| now.as_ms().saturating_sub(at.as_ms()).max(0) / 1000;
        let outbox = Outbox {
            generated_at: now,
            pending: figures.pending,
            due_now: figures.due,
            scheduled_retries: figures.pending - figures.due,
            failed_24h,
            oldest_pending_at: figures.oldest_pending_at,
            oldest_pending_age_seconds: figures.oldest_pending_at.map(age),
            endpoints: endpoints.iter().map(OfEndpoint::new).collect(),
        };
        Answer::record(200, &outbox)
    }
}
