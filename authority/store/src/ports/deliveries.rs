//! Deliveries and attempts: lease, act, settle (T4).
//!
//! A lease is a token and a time written into due deliveries in a short transaction. The holder sends while no
//! transaction is open, and settles only where the token is still its own. After the end of the lease any other
//! holder may take the delivery, so a dead process blocks nothing.

use std::collections::BTreeMap;

use async_trait::async_trait;
use authority_domain::delivery::Trigger;
use authority_domain::endpoint::SignatureProfile;
use authority_domain::event::cause::Cause;
use authority_domain::id::{AttemptId, DeliveryId, EndpointId, EventId, MerchantId};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::{DeliveryOptions, SealedSecret};
use crate::StoreError;
use crate::slots::Want;

/// A delivery to be made.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct NewDelivery {
    pub id: DeliveryId,
    pub event_id: EventId,
    pub event_type: &'static str,
    pub sequence: i64,
    pub endpoint_id: EndpointId,
    pub trigger: Trigger,
}

/// The lease that holds rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBy {
    /// Names the lease; 128 random bits.
    pub token: String,
    /// When others may take them.
    pub until: Timestamp,
}

/// Who sends a new delivery.
#[derive(Clone, Copy, Debug)]
pub enum NewDeliveryState<'h> {
    /// This instance: the row is written leased.
    HandedOff(&'h HeldBy),
    /// Whoever frees capacity for it.
    NoRoom,
    /// Whoever claims it when its endpoint is no longer held back.
    HeldBack,
    /// Capacity has not been checked yet; where there is some, the delivery is claimed at the end of the job
    /// ([`crate::hand_off`]).
    Unasked,
}

/// What a lease asks for.
#[derive(Clone, Debug)]
pub struct Lease {
    /// Names this lease; 128 random bits, of which the first 64 are the instance's ([`instance_of`]).
    pub token: String,
    /// Deliveries due at this time are taken.
    pub now: Timestamp,
    /// When others may take them.
    pub until: Timestamp,
    /// The most deliveries to take.
    pub limit: i64,
    /// What an endpoint may have in flight where neither it nor its merchant has a setting (contract 18.4-8).
    pub max_in_flight: i64,
    /// How much more this instance wants of endpoints that it knows.
    pub wants: BTreeMap<EndpointId, Want>,
    /// The most deliveries of one endpoint.
    pub each: i64,
    /// The most deliveries of one merchant, both modes together.
    pub per_merchant: i64,
    /// Merchants with a lower maximum than that.
    pub merchants: BTreeMap<MerchantId, i64>,
    /// Only deliveries to these endpoints; `None` for all.
    pub among: Option<Vec<EndpointId>>,
}

/// The part of a token that is the same in all leases of an instance.
#[must_use]
pub fn instance_of(token: &str) -> &str {
    token.get(..16).unwrap_or(token)
}

/// A delivery that this instance is to attempt, with everything the attempt needs.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LeasedDelivery {
    pub id: DeliveryId,
    pub event_id: EventId,
    pub endpoint_id: EndpointId,
    /// The merchant of the endpoint; the operator for the platform's endpoint.
    pub merchant_id: MerchantId,
    pub trigger: String,
    pub livemode: bool,
    /// Attempts already made.
    pub attempt_count: i64,
    /// Of these, attempts that the receiver put off with `Retry-After`.
    pub put_off_count: i64,
    pub created_at: Timestamp,
    pub url: String,
    pub api_version: String,
    pub signature_profile: SignatureProfile,
    pub options: DeliveryOptions,
    /// The exact bytes to send.
    pub body: String,
    /// The usable secrets, newest first.
    pub secrets: Vec<SealedSecret>,
    /// The bounds of its endpoint.
    pub bounds: Bounds,
    /// What caused its event.
    pub cause: Cause,
}

/// How many requests an endpoint may have in flight, as it was when one of its deliveries was leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// A hold or its health bounds it ([`authority_domain::endpoint::hold::cap`]): leased deliveries may begin at
    /// once.
    pub capped: bool,
    /// Its `max_in_flight`.
    pub max_in_flight: i64,
    /// How much of that other instances leave.
    pub ceiling: i64,
    /// Its merchant's share of each instance's capacity, in percent; `None` for the default.
    pub share_percent: Option<i64>,
}

/// The state in which an attempt leaves its delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettledAs {
    /// The receiver acknowledged.
    Succeeded,
    /// Another attempt follows.
    Retry {
        /// When.
        at: Timestamp,
        /// The receiver named a time: this attempt does not count against the schedule.
        put_off: bool,
    },
    /// No further attempt; the reason is `failure_reason` of contract 2.9.
    Failed {
        /// Why.
        reason: &'static str,
    },
}

/// The outcome of one attempt.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Settlement {
    pub delivery_id: DeliveryId,
    pub endpoint_id: EndpointId,
    pub token: String,
    pub attempt_id: AttemptId,
    pub number: i64,
    pub started_at: Timestamp,
    pub finished_at: Timestamp,
    pub signed_timestamp: i64,
    pub duration_ms: i64,
    pub outcome: &'static str,
    pub response_status: Option<i64>,
    pub response_excerpt: Option<String>,
    pub settled_as: SettledAs,
}

/// An attempt that counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The attempt.
    pub attempt_id: AttemptId,
    /// Its delivery is due again, because a retry was asked while the attempt was in flight.
    pub retry_asked: bool,
}

/// Deliveries and attempts.
#[async_trait]
pub trait Deliveries {
    /// Adds deliveries, due at `now`.
    async fn deliveries_insert(
        &mut self,
        tenant: &Tenant,
        deliveries: &[NewDelivery],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let rows: Vec<(&NewDelivery, NewDeliveryState<'_>)> =
            deliveries.iter().map(|delivery| (delivery, NewDeliveryState::Unasked)).collect();
        self.deliveries_insert_placed(tenant, &rows, now).await
    }

    /// Adds deliveries, due at `now`, each with its sender.
    async fn deliveries_insert_placed(
        &mut self,
        tenant: &Tenant,
        deliveries: &[(&NewDelivery, NewDeliveryState<'_>)],
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Leases due deliveries of enabled endpoints: of each endpoint the oldest first, as far as it has capacity. The
    /// endpoints of a merchant take turns, and so do the merchants.
    async fn delivery_lease_due(&mut self, lease: &Lease) -> Result<Vec<LeasedDelivery>, StoreError>;

    /// The enabled endpoints, with their merchants, that have a due delivery which nobody holds and are not held back.
    async fn endpoints_due(&mut self, now: Timestamp) -> Result<Vec<(EndpointId, MerchantId)>, StoreError>;

    /// Leases this delivery although its endpoint is held back, as the probe, when nothing else is leased to it. The
    /// limits in `lease` do not apply.
    async fn delivery_lease_probe(
        &mut self,
        lease: &Lease,
        id: &DeliveryId,
    ) -> Result<Option<LeasedDelivery>, StoreError>;

    /// Gives back those of these deliveries that `token` still holds; no attempt of them was begun. Returns how many.
    async fn delivery_lease_release(&mut self, token: &str, ids: &[DeliveryId]) -> Result<u64, StoreError>;

    /// Gives back every lease: for the start of a process that is the database's only user.
    async fn delivery_lease_release_all(&mut self) -> Result<u64, StoreError>;

    /// Writes outcomes where the token is still the holder's; returns the attempts that counted. A delivery for which
    /// a retry was asked while the attempt was in flight stays pending and is sent at `now`, on an endpoint that is
    /// held back as the probe, unless the attempt succeeded or the receiver is gone (contract 18.4-6).
    async fn delivery_settle(
        &mut self,
        settlements: &[&Settlement],
        now: Timestamp,
    ) -> Result<Vec<Settled>, StoreError>;
}
