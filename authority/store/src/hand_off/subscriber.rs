//! New deliveries, and the endpoints that may want them.

use authority_domain::delivery::Trigger;
use authority_domain::endpoint::SignatureProfile;
use authority_domain::{DeliveryId, EndpointId, EventId, Tenant};

use super::leased::{DeliveryOptions, SealedSecret};
use crate::shards::Shard;
use crate::slots::Bounds;

/// A delivery to be made.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct NewDelivery {
    pub id: DeliveryId,
    /// The shard of the event's merchant.
    pub event_shard: Shard,
    pub event_id: EventId,
    pub event_type: &'static str,
    pub sequence: i64,
    pub endpoint_id: EndpointId,
    pub trigger: Trigger,
}

/// An endpoint that may want an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscriber {
    /// Its id.
    pub endpoint_id: EndpointId,
    /// Its event filters.
    pub enabled_events: Vec<String>,
    /// Its owner: the event's tenant, or the operator.
    pub owner: Tenant,
    /// What this instance needs to send to it at once, if it may.
    pub reach: Option<DispatchTarget>,
}

/// How an endpoint is reached, and how much more it may get now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct DispatchTarget {
    pub url: String,
    pub api_version: String,
    pub signature_profile: SignatureProfile,
    pub options: DeliveryOptions,
    /// The usable secrets, newest first.
    pub secrets: Vec<SealedSecret>,
    /// How many requests it may have in flight.
    pub bounds: Bounds,
    /// Where a hold or its health bounds it, the requests it may have beside those of all instances
    /// ([`authority_domain::endpoint::hold::cap`]). 0 while a due delivery that nobody holds is pending, because that
    /// delivery goes first.
    pub room: i64,
    /// It is held back: no request begins for some time.
    pub held_back: bool,
    /// It is held back, and no probe is under way.
    pub probes: bool,
}
