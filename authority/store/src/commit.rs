//! One fact, one commit: rows, sequence numbers, events and deliveries are written from one list of changes (T1,
//! I10).
//!
//! Called at the end of every writing use case, when all reading and deciding is done. First comes the stream's
//! counter, which gives every event, and with it every new record, its sequence number. Then come the records (the
//! last version of each), the events, and the deliveries to every endpoint that wants them now (contract 7.8, 8.3).
//! Deliveries that this instance may send at once are written leased to it and handed off after the commit
//! ([`crate::hand_off`]). Where an order is shared, its partners get copies in the same transaction
//! (`partner_copies.rs`).

use std::collections::BTreeMap;

use authority_domain::delivery::Trigger;
use authority_domain::endpoint::matches_filter;
use authority_domain::event::NewEvent;
use authority_domain::event::cause::Cause;
use authority_domain::event::change::Record;
use authority_domain::partner::share::ShareStatus;
use authority_domain::tenant::MerchantContext;
use authority_domain::{Change, DeliveryId, EndpointId, EventId, MerchantId, Refusal, Tenant, Timestamp};
use rand_core::Rng;

use crate::hand_off::{HandedOff, NewDelivery, Subscriber};
use crate::partner_copies::{Hearing, Parcels, hearings};
use crate::shards::Shard;
use crate::sql::Tx;
use crate::sql::delivery::NewDeliveryState;
use crate::sql::partner::shares::SharePositions;
use crate::sql::transaction::pages::SequenceRange;
use crate::sql::transaction::tx::Written;

/// Who gets the events of a commit.
#[derive(Clone, Debug)]
pub enum Audience {
    /// Every enabled endpoint whose filter matches.
    Subscribers,
    /// One endpoint, regardless of its filter: a test.
    Tested(EndpointId),
}

/// What a commit wrote for the tenant; partners' copies are not in it.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The events, in sequence order.
    pub events: Vec<NewEvent>,
    /// The deliveries that were made for them.
    pub deliveries: Vec<NewDelivery>,
}

/// Changes of one tenant, to be written together.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Commit<'a> {
    pub tenant: &'a Tenant,
    pub merchant: &'a MerchantContext,
    pub changes: &'a [Change],
    pub audience: &'a Audience,
    pub cause: &'a Cause,
    pub now: Timestamp,
}

/// Writes the changes; all of them or, when it fails, none.
///
/// # Errors
/// `payload_too_large` when an event would be too large; otherwise only what the store reports.
pub async fn commit_changes(
    tx: &mut Tx,
    commit: Commit<'_>,
    dice: &mut (dyn Rng + Send),
) -> Result<Committed, Refusal> {
    let Commit { tenant, merchant, changes, audience, cause, now } = commit;
    let count = i64::try_from(changes.len()).unwrap_or(i64::MAX);
    let place = tx.stream_advance(tenant, count, now).await?;
    let first = place.last_sequence - count + 1;
    let hearings = hearings(tx, tenant, changes, place.active_shares, now).await?;
    for Version { record, places, before } in last_versions(changes, first) {
        put(tx, &tenant.merchant_id, record, places, &hearings).await?;
        let (_, id, after) = identity(record);
        tx.note_written(Written::of(tenant, id, before, after));
    }
    let events: Vec<NewEvent> = changes
        .iter()
        .zip(first..)
        .map(|(change, sequence)| {
            let id = EventId::generate(now, dice);
            NewEvent::render(change, id, sequence, place.created_at, tenant.livemode, merchant)
                .map(|event| event.caused_by(cause))
        })
        .collect::<Result<_, _>>()?;
    tx.events_insert(tenant, &events).await?;
    let deliveries = fan_out(tx, tenant, place.subscribers, &events, audience, now, dice).await?;
    let mut parcels = Parcels::of_owner(tenant);
    for mut hearing in hearings {
        let copies = hearing.copies(tx, &mut parcels, (cause, now), dice).await?;
        tx.events_insert(&hearing.partner, &copies).await?;
        let subscribers = hearing.take_subscribers();
        fan_out(tx, &hearing.partner, subscribers, &copies, &Audience::Subscribers, now, dice).await?;
    }
    Ok(Committed { events, deliveries })
}

/// What a commit makes of one record.
#[derive(Clone, Copy)]
struct Version<'c> {
    /// As it is at the end.
    record: &'c Record,
    places: SequenceRange,
    /// Its version before; `None` when it is made here or has no versions.
    before: Option<i64>,
}

/// The last version of every record with the sequence numbers of its events, in the order of their first change:
/// parents before the records that refer to them. The category is part of the key, since an operator may choose an
/// order number that looks like another record's id.
fn last_versions(changes: &[Change], first_sequence: i64) -> Vec<Version<'_>> {
    let mut order = Vec::new();
    let mut last: BTreeMap<_, Version<'_>> = BTreeMap::new();
    for (change, sequence) in changes.iter().zip(first_sequence..) {
        let (category, id, version) = identity(&change.record);
        let key = (category.unwrap_or(change.event_type.category()), id);
        let (first, before) = match last.get(&key) {
            Some(earlier) => (earlier.places.first, earlier.before),
            None => {
                order.push(key);
                let before = version.map(|version| version - 1);
                (sequence, before.filter(|version| *version > 0))
            }
        };
        last.insert(
            key,
            Version { record: &change.record, places: SequenceRange { first, last: sequence }, before },
        );
    }
    order.into_iter().filter_map(|key| last.get(&key).copied()).collect()
}

/// The id and version of the record that is written, and its kind where its events also belong to another record: a
/// share has no events of its own, it appears in events of its order.
fn identity(record: &Record) -> (Option<&'static str>, &str, Option<i64>) {
    match record {
        Record::Share(sharing) => {
            (Some("share"), sharing.share.id.as_str(), Some(sharing.share.resource_version))
        }
        record => (None, record.resource_id(), record.resource_version()),
    }
}

async fn put(
    tx: &mut Tx,
    merchant: &MerchantId,
    record: &Record,
    places: SequenceRange,
    hearings: &[Hearing<'_>],
) -> Result<(), Refusal> {
    match record {
        Record::Share(sharing) if sharing.share.status == ShareStatus::Active => {
            let heard = hearings.iter().find_map(|hearing| hearing.place_of(&sharing.share.id));
            let partner = heard.ok_or_else(Refusal::internal)?;
            tx.share_insert(&sharing.share, SharePositions { owner: places.first, partner }).await?;
        }
        Record::Share(sharing) => tx.share_revoke(&sharing.share).await?,
        Record::Checkout(checkout) => tx.checkout_put(merchant, checkout, places).await?,
        Record::Payment(payment) => tx.payment_put(merchant, payment, places).await?,
        Record::Order(order) => tx.order_put(merchant, order, places).await?,
        Record::Refund(refund) => tx.refund_put(merchant, refund, places).await?,
        Record::Shipment(shipment) => tx.shipment_put(merchant, shipment, places).await?,
        Record::Subscription(subscription) => tx.subscription_put(merchant, subscription, places).await?,
        Record::WebhookTest(_) => {}
    }
    Ok(())
}

/// Makes the deliveries of the events. Those to the operator's endpoint belong to the operator.
async fn fan_out(
    tx: &mut Tx,
    tenant: &Tenant,
    subscribers: Vec<Subscriber>,
    events: &[NewEvent],
    audience: &Audience,
    now: Timestamp,
    dice: &mut (dyn Rng + Send),
) -> Result<Vec<NewDelivery>, Refusal> {
    let (mut endpoints, trigger) = match audience {
        Audience::Subscribers => (subscribers, Trigger::Event),
        Audience::Tested(endpoint) => (vec![tested(endpoint, tenant, subscribers)], Trigger::Test),
    };
    let (event_shard, operator) = (Shard::of(&tenant.merchant_id), Tenant::operator());
    let dispatch = tx.dispatch();
    let held_by = dispatch.as_ref().map(|dispatch| dispatch.hold(now));
    let mut all = Vec::new();
    for owner in [tenant, &operator] {
        // The platform's endpoint is filled from every shard. Without its turn nobody knows what else goes to it, so
        // its deliveries are left to the claim.
        let ours = tx.holds(&owner.merchant_id);
        let mut deliveries = Vec::new();
        for event in events {
            for endpoint in endpoints.iter_mut().filter(|endpoint| endpoint.owner == *owner) {
                if !endpoint.enabled_events.iter().any(|filter| matches_filter(filter, event.event_type)) {
                    continue;
                }
                let delivery = NewDelivery {
                    id: DeliveryId::generate(now, dice),
                    event_shard,
                    event_id: event.id.clone(),
                    event_type: event.event_type.as_str(),
                    sequence: event.sequence,
                    endpoint_id: endpoint.endpoint_id.clone(),
                    trigger,
                };
                let offered = dispatch.as_ref().filter(|_| ours);
                let taken = offered.and_then(|dispatch| dispatch.take(&delivery, endpoint, event, now));
                let held_back = endpoint.reach.as_ref().map(|reach| reach.held_back);
                deliveries.push((delivery, if ours { held_back } else { Some(false) }, taken));
            }
        }
        let placed = |taken: &Option<HandedOff>, held_back: Option<bool>| match (taken, &held_by) {
            (Some(_), Some(held_by)) => NewDeliveryState::HandedOff(held_by),
            _ => match held_back {
                Some(true) => NewDeliveryState::HeldBack,
                Some(false) => NewDeliveryState::NoRoom,
                None => NewDeliveryState::Unasked,
            },
        };
        let rows =
            deliveries.iter().map(|(delivery, held_back, taken)| (delivery, placed(taken, *held_back)));
        tx.deliveries_insert_placed(owner, &rows.collect::<Vec<_>>(), now).await?;
        for (delivery, _, taken) in deliveries {
            all.push(delivery);
            if let Some(handed_off) = taken {
                tx.hand_off(handed_off);
            }
        }
    }
    Ok(all)
}

/// The endpoint of a test, which gets the event regardless of its filter.
fn tested(endpoint: &EndpointId, tenant: &Tenant, subscribers: Vec<Subscriber>) -> Subscriber {
    let found = subscribers.into_iter().find(|subscriber| subscriber.endpoint_id == *endpoint);
    Subscriber {
        endpoint_id: endpoint.clone(),
        enabled_events: vec!["*".to_owned()],
        owner: tenant.clone(),
        reach: found.and_then(|subscriber| subscriber.reach),
    }
}
