//! The stories of records: everything that happened to one, its events, and what became of each at every endpoint.
//!
//! Read in one transaction and in a bounded number of statements. Of a record with very much history the newest part
//! is read.

use std::collections::BTreeMap;

use authority_domain::delivery::Attempt;
use authority_domain::list_filter::RefundFilter;
use authority_domain::{
    Checkout, DeliveryId, EndpointId, ErrorCode, EventId, Order, OrderNumber, Payment, Refund, Refusal,
    Result, Shipment, Tenant,
};
use authority_store::tx::{FoundDelivery, Tx};
use serde_json::Value;

use super::search::ShownRecord;
use crate::app::App;

/// Events on one page, and how many deliveries they have there together; the newest event is always there.
pub const EVENTS_MAX: i64 = 20;
const DELIVERIES_OF_PAGE: usize = 25;
/// The newest deliveries of these events, and their newest attempts.
const DELIVERIES_MAX: i64 = 60;
const ATTEMPTS_MAX: i64 = 120;
const REFUNDS_MAX: i64 = 100;

/// Everything about an order.
#[derive(Clone, Debug)]
pub struct OrderStory {
    /// Whose it is.
    pub tenant: Tenant,
    /// The order as it is now.
    pub order: Order,
    /// The checkout that it came from.
    pub checkout: Option<Checkout>,
    /// Its payments, oldest first.
    pub payments: Vec<Payment>,
    /// Its refunds, newest first.
    pub refunds: Vec<Refund>,
    /// Its parcels, oldest first.
    pub shipments: Vec<Shipment>,
    /// Its events and where they went.
    pub history: EventHistory,
}

/// A payment, refund, parcel, subscription or checkout, and what happened to it.
#[derive(Clone, Debug)]
pub struct RecordStory {
    /// Whose it is.
    pub tenant: Tenant,
    /// As it is stored.
    pub record: Value,
    /// Its events and where they went.
    pub history: EventHistory,
}

/// Events and what became of them.
#[derive(Clone, Debug, Default)]
pub struct EventHistory {
    /// The events, newest first.
    pub events: Vec<Value>,
    /// There are older ones.
    pub truncated: bool,
    /// There are older deliveries of these than are shown.
    pub more_deliveries: bool,
    /// Their deliveries, newest first.
    pub deliveries: Vec<FoundDelivery>,
    /// The attempts of these, newest first.
    pub attempts: Vec<Attempt>,
    /// Where the deliveries go.
    pub urls: BTreeMap<EndpointId, String>,
}

impl App {
    /// The story of an order with its newest events before the sequence `before`.
    pub async fn order_story(
        &self,
        tenant: Tenant,
        number: OrderNumber,
        before: Option<i64>,
    ) -> Result<OrderStory> {
        self.read_list(async move |tx| {
            let order = tx.order_get(&tenant, &number).await?.ok_or_else(OrderNumber::missing)?;
            gather(tx, tenant, order, before).await
        })
        .await
    }

    /// The story of a record of any merchant with its newest events before the sequence `before`.
    ///
    /// # Errors
    /// `not_found` when there is no such record.
    pub async fn record_story(&self, id: String, before: Option<i64>) -> Result<RecordStory> {
        let found = self.record_find(&id).await?;
        let missing = || Refusal::new(ErrorCode::NotFound, "There is no such record.");
        let ShownRecord { tenant, record } = found.ok_or_else(missing)?;
        self.read_list(async move |tx| {
            let bodies = tx.events_about(&tenant, &[id], before, EVENTS_MAX + 1).await?;
            let history = fates(tx, &tenant, bodies).await?;
            Ok(RecordStory { tenant, record, history })
        })
        .await
    }

    /// One delivery of any merchant, with its attempts and where it goes.
    pub async fn delivery_story(&self, id: DeliveryId) -> Result<DeliveryStory> {
        self.read(async move |tx| {
            let found = tx.delivery_find(&id).await?.ok_or_else(DeliveryId::missing)?;
            let attempts = tx.delivery_attempts_find(&id).await?;
            let endpoint = tx.endpoint_find(&found.delivery.endpoint_id).await?;
            let url = endpoint.map_or(String::new(), |endpoint| endpoint.endpoint.url);
            Ok(DeliveryStory { found, attempts, url })
        })
        .await
    }

    /// What became of one event of any merchant.
    pub async fn event_story(&self, id: EventId) -> Result<EventHistory> {
        self.read_list(async move |tx| {
            let (tenant, body) = tx.event_find(&id).await?.ok_or_else(EventId::missing)?;
            fates(tx, &tenant, vec![body]).await
        })
        .await
    }
}

/// One delivery of any merchant.
#[derive(Clone, Debug)]
pub struct DeliveryStory {
    /// The delivery.
    pub found: FoundDelivery,
    /// Its attempts, the first one first.
    pub attempts: Vec<Attempt>,
    /// Where it goes.
    pub url: String,
}

async fn gather(tx: &mut Tx, tenant: Tenant, order: Order, before: Option<i64>) -> Result<OrderStory> {
    let number = order.order_number.clone();
    let checkout = match &order.checkout_id {
        Some(id) => tx.checkout_get(&tenant, id).await?,
        None => None,
    };
    let payments = tx.payments_of_order(&tenant, &number).await?;
    let shipments = tx.shipments_of_order(&tenant, &number).await?;
    let filter = RefundFilter { order_number: Some(number.to_string()), ..RefundFilter::default() };
    let refunds = tx.refunds_page(&tenant, &filter, None, REFUNDS_MAX).await?;
    let refunds: Vec<Refund> = refunds
        .rows
        .iter()
        .map(|(_, text)| serde_json::from_str(text))
        .collect::<Result<_, _>>()
        .map_err(|_| Refusal::internal())?;
    let records: Vec<String> = [number.to_string()]
        .into_iter()
        .chain(checkout.iter().map(|checkout| checkout.id.to_string()))
        .chain(payments.iter().map(|payment| payment.id.to_string()))
        .chain(refunds.iter().map(|refund| refund.id.to_string()))
        .chain(shipments.iter().map(|shipment| shipment.id.to_string()))
        .collect();
    let bodies = tx.events_about(&tenant, &records, before, EVENTS_MAX + 1).await?;
    let history = fates(tx, &tenant, bodies).await?;
    Ok(OrderStory { tenant, order, checkout, payments, refunds, shipments, history })
}

/// The tenant's events of these bodies, newest first, with their deliveries to anybody.
pub(in crate::app) async fn fates(
    tx: &mut Tx,
    tenant: &Tenant,
    mut bodies: Vec<String>,
) -> Result<EventHistory> {
    let most = usize::try_from(EVENTS_MAX).unwrap_or(usize::MAX);
    let mut truncated = bodies.len() > most;
    bodies.truncate(most);
    let mut events: Vec<Value> = bodies
        .iter()
        .map(|body| serde_json::from_str(body))
        .collect::<Result<_, _>>()
        .map_err(|_| Refusal::internal())?;
    let mut ids: Vec<EventId> =
        events.iter().filter_map(|event| EventId::parse(event.get("id")?.as_str()?)).collect();
    let mut deliveries = tx.deliveries_of_events(tenant, &ids, DELIVERIES_MAX).await?;
    let more_deliveries = i64::try_from(deliveries.len()) == Ok(DELIVERIES_MAX);
    let of = |id: &EventId| deliveries.iter().filter(|found| found.delivery.event_id == *id).count();
    let mut together = 0;
    let fit = ids.iter().take_while(|id| {
        together += of(id);
        together <= DELIVERIES_OF_PAGE
    });
    let fit = fit.count().max(1);
    if fit < ids.len() {
        truncated = true;
        ids.truncate(fit);
        events.truncate(fit);
        deliveries.retain(|found| ids.contains(&found.delivery.event_id));
    }
    let tried: Vec<DeliveryId> = deliveries.iter().map(|found| found.delivery.id.clone()).collect();
    let attempts = tx.attempts_of_deliveries(tenant, &tried, ATTEMPTS_MAX).await?;
    let mut urls = BTreeMap::new();
    for found in &deliveries {
        let id = &found.delivery.endpoint_id;
        if !urls.contains_key(id)
            && let Some(endpoint) = tx.endpoint_find(id).await?
        {
            urls.insert(id.clone(), endpoint.endpoint.url);
        }
    }
    Ok(EventHistory { events, truncated, more_deliveries, deliveries, attempts, urls })
}
