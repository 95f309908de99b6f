//! A merchant in one mode with a store behind it: the use cases that the cases need, without HTTP.

use std::collections::BTreeMap;

use authority_domain::delivery::Trigger;
use authority_domain::event::cause::{Cause, TraceParent};
use authority_domain::event::change::Record;
use authority_domain::list_filter::EventFilter;
use authority_domain::order::ConfirmedBy;
use authority_domain::parts::Metadata;
use authority_domain::shipment::{NewShipment, ShipmentLine};
use authority_domain::tenant::MerchantContext;
use authority_domain::transitions::payment::Surroundings;
use authority_domain::{
    Change, Checkout, ConfirmOn, DeliveryId, Endpoint, EndpointId, EventId, Order, OrderNumber, Payment,
    PaymentStatus, Refusal, RequestId, Shipment, ShipmentId, Tenant, Timestamp, transitions,
};
use authority_store::Store;
use authority_store::commit::{Audience, Commit, Committed, commit_changes};
use authority_store::hand_off::{Lease, LeasedDelivery, NewDelivery, SealedSecret};
use authority_store::shards::Shard;
use authority_store::tx::{Prefetch, Settlement, Tx};
use verify_core::catalog::EventType;

use super::fixtures::{checkout, new_payment, reported};
use super::{Database, ask, at, dice, endpoint, merchant, noon};

/// What causes every event of a shop.
pub(crate) fn cause() -> Cause {
    Cause {
        request_id: Some(RequestId::from_store("req_01k3zqa7t0e9h8w8r1v0c2n5xk".to_owned())),
        trace: TraceParent::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    }
}

/// A merchant's data in one mode.
#[derive(Clone)]
pub(crate) struct Shop {
    pub(crate) store: Store,
    pub(crate) tenant: Tenant,
    pub(crate) context: MerchantContext,
}

/// What was sold.
#[derive(Clone)]
pub(crate) struct Sale {
    pub(crate) payment: Payment,
    pub(crate) order: Order,
}

impl Shop {
    /// Opens the database; the merchant is `acme`, live.
    pub(crate) async fn open(database: &dyn Database) -> Self {
        Self::new(&database.open().await.unwrap(), "acme").await
    }

    pub(crate) async fn new(store: &Store, slug: &str) -> Self {
        let merchant = merchant(slug);
        let context = merchant.context();
        let tenant = Tenant { merchant_id: merchant.id.clone(), livemode: true };
        ask!(store.write, |tx| tx.merchant_insert(&merchant)).unwrap();
        Self { store: store.clone(), tenant, context }
    }

    /// The same merchant's test data.
    pub(crate) fn in_test_mode(&self) -> Self {
        let tenant = Tenant { livemode: false, ..self.tenant.clone() };
        Self { tenant, ..self.clone() }
    }

    /// What is the platform's own.
    pub(crate) fn platform(&self) -> Self {
        Self { tenant: Tenant::operator(), ..self.clone() }
    }

    pub(crate) async fn commit(&self, changes: Vec<Change>) -> Result<Committed, Refusal> {
        self.commit_at(changes, Audience::Subscribers, noon()).await
    }

    pub(crate) async fn commit_at(
        &self,
        changes: Vec<Change>,
        audience: Audience,
        now: Timestamp,
    ) -> Result<Committed, Refusal> {
        let shop = self.clone();
        ask!(self.store.write, |tx| shop.commit_in(tx, &changes, &audience, now))
    }

    /// Commits what makes a record, with an idempotency key that is kept with it.
    pub(crate) async fn commit_under(
        &self,
        changes: Vec<Change>,
        record: &str,
        key: &'static str,
        fingerprint: [u8; 32],
    ) -> Result<Committed, Refusal> {
        let shop = self.clone();
        ask!(self.store.write, [record], |tx| async {
            tx.idempotency_key_keep(&record, key, &fingerprint);
            shop.commit_in(tx, &changes, &Audience::Subscribers, noon()).await
        })
    }

    /// Commits within a job that does more.
    pub(crate) async fn commit_in(
        &self,
        tx: &mut Tx,
        changes: &[Change],
        audience: &Audience,
        now: Timestamp,
    ) -> Result<Committed, Refusal> {
        let commit =
            Commit { tenant: &self.tenant, merchant: &self.context, changes, audience, cause: &cause(), now };
        commit_changes(tx, commit, &mut dice()).await
    }

    /// What a job of this merchant says beforehand that reads nothing first.
    pub(crate) fn ahead(&self) -> Prefetch {
        Prefetch { tenant: Some(self.tenant.clone()), key: None, reads: Vec::new(), now: noon() }
    }

    /// Another delivery of a checkout's first event, as a replay makes it; not stored yet.
    pub(crate) fn replay_of(
        &self,
        event: &EventId,
        sequence: i64,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> NewDelivery {
        NewDelivery {
            id: DeliveryId::generate(now, &mut dice()),
            event_shard: Shard::of(&self.tenant.merchant_id),
            event_id: event.clone(),
            event_type: "checkout.created",
            sequence,
            endpoint_id: endpoint.clone(),
            trigger: Trigger::Replay,
        }
    }

    /// A checkout that is not stored yet.
    pub(crate) fn opened(&self) -> (Checkout, Change) {
        let checkout = checkout(self.tenant.livemode);
        let change = Change::checkout(EventType::CheckoutCreated, &checkout);
        (checkout, change)
    }

    /// Stores one checkout: the smallest change there is, with one event.
    pub(crate) async fn open_checkout(&self) -> Committed {
        self.open_checkout_at(noon()).await
    }

    /// The same at this time.
    pub(crate) async fn open_checkout_at(&self, now: Timestamp) -> Committed {
        self.commit_at(vec![self.opened().1], Audience::Subscribers, now).await.unwrap()
    }

    /// So many, one after the other.
    pub(crate) async fn open_checkouts(&self, count: i64) {
        for _ in 0..count {
            self.open_checkout().await;
        }
    }

    /// Opens a checkout and has it paid: six events in two commits.
    pub(crate) async fn sell(&self) -> Sale {
        let tenant = self.tenant.clone();
        let number = ask!(self.store.write, |tx| tx.order_number_reserve(&tenant, "ORD-"));
        self.sell_as(|_| number.unwrap()).await
    }

    /// Like [`Shop::sell`], under an order number of the operator's choice.
    pub(crate) async fn sell_as(&self, number: impl FnOnce(&Payment) -> OrderNumber) -> Sale {
        let (checkout, opened) = self.opened();
        let created = transitions::payment::start(&checkout, false, new_payment(&checkout), noon()).unwrap();
        let Record::Payment(payment) = created.record.clone() else { panic!("a payment") };
        self.commit(vec![opened, created]).await.unwrap();
        let order_number = number(&payment);
        let surroundings =
            Surroundings::Completing { checkout: Box::new(checkout), order_number, subscription: None };
        let next = reported(&payment, PaymentStatus::Succeeded);
        let changes = transitions::payment::settle(&payment, next, surroundings, ConfirmOn::Paid, noon());
        self.commit(changes.clone()).await.unwrap();
        let (mut sold, mut paid) = (None, None);
        for change in changes {
            match change.record {
                Record::Order(order) => sold = Some(*order),
                Record::Payment(payment) => paid = Some(*payment),
                _ => {}
            }
        }
        Sale { payment: paid.unwrap(), order: sold.unwrap() }
    }

    /// One sticker of an order in a parcel, not stored yet.
    pub(crate) fn parcel(
        &self,
        order: &Order,
        existing: &[Shipment],
        tracking: Option<&str>,
    ) -> (Shipment, Vec<Change>) {
        self.parcel_at(order, existing, tracking, noon())
    }

    pub(crate) fn parcel_at(
        &self,
        order: &Order,
        existing: &[Shipment],
        tracking: Option<&str>,
        now: Timestamp,
    ) -> (Shipment, Vec<Change>) {
        let line = ShipmentLine { line_item_id: order.line_items[1].id.clone(), quantity: 1 };
        let new = NewShipment {
            carrier: "dhl".into(),
            service_level: None,
            tracking_number: tracking.map(str::to_owned),
            tracking_url: None,
            line_items: Some(vec![line]),
            shipped_at: None,
            estimated_delivery_at: None,
            metadata: Metadata::new(),
        };
        let id = ShipmentId::generate(now, &mut dice());
        transitions::shipment::create(order.clone(), existing, ConfirmedBy::Payments, id, new, now).unwrap()
    }

    /// Stores an endpoint with one secret.
    pub(crate) async fn endpoint(&self, filters: &[&str]) -> EndpointId {
        self.endpoint_as(endpoint(self.tenant.livemode, filters)).await
    }

    /// The same of this record.
    pub(crate) async fn endpoint_as(&self, endpoint: Endpoint) -> EndpointId {
        let id = endpoint.id.clone();
        let tenant = self.tenant.clone();
        let secret = SealedSecret { version: 1, sealed: vec![1, 2, 3], expires_at: None };
        ask!(self.store.write, |tx| tx.endpoint_insert(&tenant, &endpoint, &secret)).unwrap();
        id
    }

    /// Every event of the stream as (sequence, body).
    pub(crate) async fn events(&self) -> Vec<(i64, String)> {
        let tenant = self.tenant.clone();
        ask!(self.store.read, |tx| tx.events_page(&tenant, &EventFilter::default(), 0, 1000)).unwrap().rows
    }

    /// The sequences of these events.
    pub(crate) async fn sequences(&self) -> Vec<i64> {
        self.events().await.into_iter().map(|(sequence, _)| sequence).collect()
    }

    pub(crate) async fn lease(
        &self,
        token: &str,
        now: Timestamp,
        limit: i64,
        per_endpoint: i64,
    ) -> Vec<LeasedDelivery> {
        let until = now.plus_ms(60_000);
        let token = token.to_owned();
        let lease = Lease {
            token,
            now,
            until,
            limit,
            max_in_flight: per_endpoint,
            wants: BTreeMap::new(),
            each: 100,
            per_merchant: i64::MAX,
            merchants: BTreeMap::new(),
            among: None,
        };
        ask!(self.store.write, |tx| tx.delivery_lease_due(&lease)).unwrap()
    }

    /// How many deliveries were settled.
    pub(crate) async fn settle(&self, settlements: Vec<Settlement>) -> usize {
        ask!(self.store.write, |tx| tx.delivery_settle(&settlements.iter().collect::<Vec<_>>(), at(62)))
            .unwrap()
            .len()
    }
}
