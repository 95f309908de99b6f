//! What happened to an order, read for one page of the operator's console: its events and what became of each, in a
//! few statements however many there are.

use async_trait::async_trait;
use authority_domain::delivery::Attempt;
use authority_domain::id::{DeliveryId, EndpointId, EventId};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::FoundDelivery;
use crate::StoreError;

/// What happened and was sent in one hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HourFigures {
    /// When the hour began.
    pub since: Timestamp,
    /// Events; of all merchants, and none where the figures are one endpoint's.
    pub events: i64,
    /// Attempts.
    pub attempts: i64,
    /// Of these, the ones that failed.
    pub failed_attempts: i64,
    /// Deliveries that failed for good.
    pub failed_deliveries: i64,
}

/// Reads of the console's pages.
#[async_trait]
pub trait OrderStory {
    /// The newest `limit` events of a stream before the sequence `before` about any of these records (order numbers or
    /// ids), newest first, as stored bytes.
    async fn events_about(
        &mut self,
        tenant: &Tenant,
        records: &[String],
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<String>, StoreError>;

    /// Up to `limit` deliveries of these events to any endpoint, newest first.
    async fn deliveries_of_events(
        &mut self,
        events: &[EventId],
        limit: i64,
    ) -> Result<Vec<FoundDelivery>, StoreError>;

    /// Up to `limit` attempts of these deliveries, newest first.
    async fn attempts_of_deliveries(
        &mut self,
        deliveries: &[DeliveryId],
        limit: i64,
    ) -> Result<Vec<Attempt>, StoreError>;

    /// What was sent since the hour of `since`, to one endpoint or to all, hour by hour. Hours in which nothing
    /// happened are absent.
    async fn hours_since(
        &mut self,
        endpoint: Option<&EndpointId>,
        since: Timestamp,
    ) -> Result<Vec<HourFigures>, StoreError>;
}
