//! One fact, one commit: rows, stream places, events and deliveries written from one list of changes (T1, I10).
//!
//! Called at the end of every writing use case. First the records (the last version of each), then the stream's
//! counter, then what needs the counter: the orders' places, the events, the deliveries to every endpoint that wants
//! them at this moment (contract 7.8, 8.3).

use std::collections::BTreeMap;

use authority_domain::change::{Change, Record};
use authority_domain::endpoint::matches_filter;
use authority_domain::event::{MerchantContext, NewEvent};
use authority_domain::id::{DeliveryId, EndpointId, EventId};
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use rand_core::Rng;

use crate::ports::{NewDelivery, Trigger, Tx};

/// Who gets the events of a commit.
#[derive(Clone, Debug)]
pub enum Audience {
    /// Every enabled endpoint whose filter matches.
    Subscribers,
    /// One endpoint, whatever its filter: a test.
    Tested(EndpointId),
}

/// What a commit wrote.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The events, in sequence order.
    pub events: Vec<NewEvent>,
    /// The deliveries that were made for them.
    pub deliveries: Vec<NewDelivery>,
}

/// Writes `changes` of one tenant; all of them or, when it fails, none.
///
/// # Errors
/// `payload_too_large` when an event would be too large; otherwise only what the store reports.
pub async fn commit_changes(
    tx: &mut dyn Tx,
    tenant: &Tenant,
    merchant: &MerchantContext,
    changes: &[Change],
    audience: &Audience,
    now: Timestamp,
    dice: &mut (dyn Rng + Send),
) -> Result<Committed, Refusal> {
    for record in last_versions(changes) {
        put(tx, tenant, record).await?;
    }
    let count = i64::try_from(changes.len()).unwrap_or(i64::MAX);
    let place = tx.stream_advance(tenant, count, now).await?;
    let first = place.last_sequence - count + 1;
    let events: Vec<NewEvent> = changes
        .iter()
        .zip(first..)
        .map(|(change, sequence)| {
            let id = EventId::generate(now, dice);
            NewEvent::render(change, id, sequence, place.created_at, tenant.livemode, merchant)
        })
        .collect::<Result<_, _>>()?;
    place_orders(tx, tenant, changes, &events).await?;
    tx.events_insert(tenant, &events).await?;
    let deliveries = fan_out(tx, tenant, &events, audience, now, dice).await?;
    tx.deliveries_insert(tenant, &deliveries, now).await?;
    Ok(Committed { events, deliveries })
}

/// The last version of every record, in the order of their first change: parents before those that refer to them.
/// The category belongs to the key, since an operator may choose an order number that looks like another record's id.
fn last_versions(changes: &[Change]) -> Vec<&Record> {
    let mut order = Vec::new();
    let mut last = BTreeMap::new();
    for change in changes {
        let key = (change.event_type.category(), change.record.resource_id());
        if last.insert(key, &change.record).is_none() {
            order.push(key);
        }
    }
    order.into_iter().filter_map(|key| last.get(&key).copied()).collect()
}

async fn put(tx: &mut dyn Tx, tenant: &Tenant, record: &Record) -> Result<(), Refusal> {
    match record {
        Record::Checkout(checkout) => tx.checkout_put(&tenant.merchant_id, checkout).await?,
        Record::Payment(payment) => tx.payment_put(&tenant.merchant_id, payment).await?,
        Record::Order(order) => tx.order_put(&tenant.merchant_id, order).await?,
        Record::Shipment(shipment) => tx.shipment_put(&tenant.merchant_id, shipment).await?,
        Record::WebhookTest(_) => {}
    }
    Ok(())
}

async fn place_orders(
    tx: &mut dyn Tx,
    tenant: &Tenant,
    changes: &[Change],
    events: &[NewEvent],
) -> Result<(), Refusal> {
    let mut places = BTreeMap::new();
    for (change, event) in changes.iter().zip(events) {
        if let Record::Order(order) = &change.record {
            let place = places.entry(&order.order_number).or_insert((event.sequence, event.sequence));
            place.1 = event.sequence;
        }
    }
    for (number, (first, last)) in places {
        tx.order_place(tenant, number, first, last).await?;
    }
    Ok(())
}

async fn fan_out(
    tx: &mut dyn Tx,
    tenant: &Tenant,
    events: &[NewEvent],
    audience: &Audience,
    now: Timestamp,
    dice: &mut (dyn Rng + Send),
) -> Result<Vec<NewDelivery>, Refusal> {
    let (endpoints, trigger) = match audience {
        Audience::Subscribers => (tx.endpoints_enabled(tenant).await?, Trigger::Event),
        Audience::Tested(endpoint) => (vec![(endpoint.clone(), vec!["*".to_owned()])], Trigger::Test),
    };
    let mut deliveries = Vec::new();
    for event in events {
        for (endpoint, filters) in &endpoints {
            if filters.iter().any(|filter| matches_filter(filter, event.event_type)) {
                deliveries.push(NewDelivery {
                    id: DeliveryId::generate(now, dice),
                    event_id: event.id.clone(),
                    event_type: event.event_type.as_str(),
                    sequence: event.sequence,
                    endpoint_id: endpoint.clone(),
                    trigger,
                });
            }
        }
    }
    Ok(deliveries)
}
