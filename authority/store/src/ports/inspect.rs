//! The reads of the audit: every stored record, a bounded number of rows at a time, inside one snapshot.
//!
//! The reader never sees half a commit, however long it takes and whatever is written meanwhile
//! ([`crate::Inspection::snapshot`]). Pages go by keys, so each costs the same. Nothing is judged here;
//! [`authority_domain::invariants`] does that.

use async_trait::async_trait;
use authority_domain::id::{EventId, MerchantId};
use authority_domain::invariants::{
    EventDelivery, EventHead, OrderFacts, RecordKind, StoredEvent, StoredRecord, StoredShare, StreamCounter,
    Subscription,
};
use authority_domain::order::number::OrderNumber;
use authority_domain::payment::Payment;
use authority_domain::refund::Refund;
use authority_domain::tenant::Tenant;

use crate::StoreError;

/// A page of orders with what belongs to them.
#[derive(Debug)]
pub struct InspectedOrders {
    /// Those that can be read; the others are found by their events.
    pub orders: Vec<OrderFacts>,
    /// The key to go on after; `None` at the end.
    pub next: Option<OrderNumber>,
}

/// A page of payments that belong to no order, with their refunds.
#[derive(Debug)]
pub struct InspectedPayments {
    /// Those that can be read; the others are found by their events.
    pub payments: Vec<(Payment, Vec<Refund>)>,
    /// The id to go on after; `None` at the end.
    pub next: Option<String>,
}

/// The reads of the audit.
#[async_trait]
pub trait Inspect {
    /// The guards of the schema for events that are missing or switched off.
    async fn inspect_missing_guards(&mut self) -> Result<Vec<String>, StoreError>;

    /// Up to `limit` merchants after `after`, by id.
    async fn inspect_merchants(
        &mut self,
        after: Option<&MerchantId>,
        limit: i64,
    ) -> Result<Vec<MerchantId>, StoreError>;

    /// The counter row that gives the next event its sequence number.
    async fn inspect_counter(&mut self, tenant: &Tenant) -> Result<Option<StreamCounter>, StoreError>;

    /// The endpoints that the tenant's events may go to.
    async fn inspect_subscriptions(&mut self, tenant: &Tenant) -> Result<Vec<Subscription>, StoreError>;

    /// Up to `limit` events after the sequence `after`, in order.
    async fn inspect_event_heads(
        &mut self,
        tenant: &Tenant,
        after: i64,
        limit: i64,
    ) -> Result<Vec<EventHead>, StoreError>;

    /// The deliveries that were made with these events, under any owner.
    async fn inspect_deliveries(&mut self, events: &[EventId]) -> Result<Vec<EventDelivery>, StoreError>;

    /// Up to `limit` events by (record, sequence) after that position.
    async fn inspect_events_by_record(
        &mut self,
        tenant: &Tenant,
        after: (&str, i64),
        limit: i64,
    ) -> Result<Vec<StoredEvent>, StoreError>;

    /// The stored records with these ids, in any order.
    async fn inspect_records(
        &mut self,
        tenant: &Tenant,
        kind: RecordKind,
        ids: &[&str],
    ) -> Result<Vec<StoredRecord>, StoreError>;

    /// Up to `limit` ids of records, made after the sequence `made_after`, that have no event.
    async fn inspect_untold(
        &mut self,
        tenant: &Tenant,
        kind: RecordKind,
        made_after: i64,
        limit: i64,
    ) -> Result<Vec<String>, StoreError>;

    /// Up to `limit` orders after `after`, by number.
    async fn inspect_orders(
        &mut self,
        tenant: &Tenant,
        after: Option<&OrderNumber>,
        limit: i64,
    ) -> Result<InspectedOrders, StoreError>;

    /// Up to `limit` payments after the id `after` that belong to no order although they captured money.
    async fn inspect_payments_without_order(
        &mut self,
        tenant: &Tenant,
        after: &str,
        limit: i64,
    ) -> Result<InspectedPayments, StoreError>;

    /// The shares with these ids by which the tenant sees orders of others, in any order.
    async fn inspect_shares(&mut self, tenant: &Tenant, ids: &[&str])
    -> Result<Vec<StoredShare>, StoreError>;

    /// Up to `limit` ids of shares by which the tenant sees orders of others, made after the sequence `made_after` of
    /// its own stream, that have no event in it.
    async fn inspect_untold_shares(
        &mut self,
        tenant: &Tenant,
        made_after: i64,
        limit: i64,
    ) -> Result<Vec<String>, StoreError>;

    /// The number of active shares of its orders according to the tenant's stream, and the number of rows.
    async fn inspect_share_count(&mut self, tenant: &Tenant) -> Result<(i64, i64), StoreError>;
}
