//! Deliveries and attempts: lease, act, settle (T4).
//!
//! A lease is a token and a time written into due deliveries in a short transaction. The holder sends while no
//! transaction is open, and settles only where the token is still its own. After the end of the lease any other
//! holder may take the delivery, so a dead process blocks nothing.

pub(crate) mod backlog;
pub(crate) mod history;
pub(crate) mod leased;
pub(crate) mod settlements;

use std::collections::BTreeMap;

use authority_domain::delivery::Trigger;
use authority_domain::endpoint::SignatureProfile;
use authority_domain::event::cause::Cause;
use authority_domain::id::{AttemptId, DeliveryId, EndpointId, EventId, MerchantId};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::Result;
use crate::driver::{Query, query};
use crate::ports::{DeliveryOptions, SealedSecret};
use crate::slots::Want;
use crate::sql::transaction::Tx;
use crate::sql::transaction::rows::{Form, Table, TableOrder, Together, Touches, columns};
use crate::unfinished::all_waiting;

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

/// New deliveries. The position of each continues from the endpoint's last delivery; the statement does not see its
/// own rows. Those of the platform's endpoint have numbers of their own where transactions of several shards make them
/// at once.
static DELIVERIES: Table = Table {
    order: TableOrder::Delivery,
    touches: Touches::Any,
    columns: columns!(into "INSERT INTO deliveries (id, merchant_id, livemode, event_id, event_type, sequence, endpoint_id, triggered_by, \
        status, attempt_count, next_attempt_at, created_at, updated_at, lease_token, lease_until, created_sequence)";
        Text, Text, Bool, Text, Text, Int, Text, Text, Int, Text, Int, Int),
    form: Form::SelectIn(|dialect| dialect.new_delivery),
    rest: "",
    // Numbered per endpoint: its id has index 6.
    together: Together::Numbered(6),
};

impl Tx {
    /// Adds deliveries, due at `now`.
    pub async fn deliveries_insert(
        &mut self,
        tenant: &Tenant,
        deliveries: &[NewDelivery],
        now: Timestamp,
    ) -> Result<()> {
        let rows: Vec<(&NewDelivery, NewDeliveryState<'_>)> =
            deliveries.iter().map(|delivery| (delivery, NewDeliveryState::Unasked)).collect();
        self.deliveries_insert_placed(tenant, &rows, now).await
    }

    /// Adds deliveries, due at `now`, each with its sender.
    pub async fn deliveries_insert_placed(
        &mut self,
        tenant: &Tenant,
        deliveries: &[(&NewDelivery, NewDeliveryState<'_>)],
        now: Timestamp,
    ) -> Result<()> {
        if deliveries.is_empty() {
            return Ok(());
        }
        for (delivery, placed) in deliveries {
            let endpoint = &delivery.endpoint_id;
            let held = match placed {
                NewDeliveryState::HandedOff(held) => Some(*held),
                NewDeliveryState::NoRoom | NewDeliveryState::HeldBack | NewDeliveryState::Unasked => None,
            };
            match placed {
                NewDeliveryState::HandedOff(_) => self.conn.cache.fill_place(endpoint),
                NewDeliveryState::HeldBack => {}
                NewDeliveryState::NoRoom => {
                    self.conn.cache.fill_up(endpoint);
                    self.leave_behind(endpoint);
                }
                NewDeliveryState::Unasked => self.ask_for_room(endpoint, now),
            }
            self.conn.buffer(
                &DELIVERIES,
                [],
                [
                    delivery.id.as_str().into(),
                    tenant.merchant_id.as_str().into(),
                    tenant.livemode.into(),
                    delivery.event_id.as_str().into(),
                    delivery.event_type.into(),
                    delivery.sequence.into(),
                    delivery.endpoint_id.as_str().into(),
                    delivery.trigger.as_str().into(),
                    now.as_ms().into(),
                    held.map(|held| held.token.as_str()).into(),
                    held.map(|held| held.until.as_ms()).into(),
                ],
            );
        }
        Ok(())
    }

    /// Leases due deliveries of enabled endpoints: of each endpoint the oldest first, as far as it has capacity. The
    /// endpoints of a merchant take turns, and so do the merchants.
    pub async fn delivery_lease_due(&mut self, lease: &Lease) -> Result<Vec<LeasedDelivery>> {
        let merchants: BTreeMap<&str, i64> =
            lease.merchants.iter().map(|(id, room)| (id.as_str(), *room)).collect();
        let wants: BTreeMap<&str, [i64; 2]> =
            lease.wants.iter().map(|(id, want)| (id.as_str(), [want.most, want.beyond])).collect();
        let dialect = self.conn.dialect();
        let mut query =
            query(if lease.among.is_some() { dialect.lease_due_among } else { dialect.lease_due })
                .binds((&lease.token, lease.until.as_ms(), lease.now.as_ms(), lease.max_in_flight))
                .binds((lease.limit, lease.per_merchant, serde_json::to_string(&merchants)?))
                .binds((serde_json::to_string(&wants)?, instance_of(&lease.token)))
                .bind(lease.each);
        if let Some(among) = &lease.among {
            let among: Vec<&str> = among.iter().map(EndpointId::as_str).collect();
            query = query.bind(serde_json::to_string(&among)?);
        }
        let ids: Vec<String> = query.read(&mut self.conn).await?;
        self.leased(lease, &ids).await
    }

    /// The enabled endpoints, with their merchants, that have a due delivery which nobody holds and are not held back.
    pub async fn endpoints_due(&mut self, now: Timestamp) -> Result<Vec<(EndpointId, MerchantId)>> {
        let due: Vec<(String, String)> = query(concat!(
            all_waiting!(),
            "due (id, merchant_id) AS ( \
                 SELECT e.id, e.merchant_id FROM waiting JOIN webhook_endpoints e ON e.id = waiting.endpoint_id \
                 WHERE e.status = 'enabled' AND (e.held_until IS NULL OR e.held_until <= $1) \
                     AND EXISTS (SELECT 1 FROM deliveries w WHERE w.endpoint_id = e.id AND w.status = 'pending' \
                         AND w.next_attempt_at <= $1 AND (w.lease_until IS NULL OR w.lease_until < $1))) \
             SELECT id, merchant_id FROM due",
        ))
        .bind(now.as_ms())
        .read(&mut self.conn)
        .await?;
        let of = |(id, merchant)| (EndpointId::from_store(id), MerchantId::from_store(merchant));
        Ok(due.into_iter().map(of).collect())
    }

    /// Leases this delivery although its endpoint is held back, as the probe, when nothing else is leased to it. The
    /// limits in `lease` do not apply.
    pub async fn delivery_lease_probe(
        &mut self,
        lease: &Lease,
        id: &DeliveryId,
    ) -> Result<Option<LeasedDelivery>> {
        let ids: Vec<String> = query(
            "UPDATE deliveries SET lease_token = $1, lease_until = $2, retry_asked_at = NULL WHERE id = $4 AND status = 'pending' \
                 AND EXISTS (SELECT 1 FROM webhook_endpoints e WHERE e.id = deliveries.endpoint_id \
                     AND e.status = 'enabled' AND e.hold_step > 0) \
                 AND NOT EXISTS (SELECT 1 FROM deliveries l WHERE l.endpoint_id = deliveries.endpoint_id \
                     AND l.lease_token IS NOT NULL AND l.lease_until >= $3) \
             RETURNING id",
        )
        .binds((&lease.token, lease.until.as_ms(), lease.now.as_ms(), id.as_str()))
        .write_returning(&mut self.conn)
        .await?;
        Ok(self.leased(lease, &ids).await?.pop())
    }

    /// Gives back those of these deliveries that `token` still holds; no attempt of them was begun. Returns how many.
    pub async fn delivery_lease_release(&mut self, token: &str, ids: &[DeliveryId]) -> Result<u64> {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        if ids.is_empty() {
            return Ok(0);
        }
        let mut query =
            Query::new("UPDATE deliveries SET lease_token = NULL, lease_until = NULL WHERE lease_token = ");
        query.push_bind(token);
        query.push_in("id", &ids);
        let released = query.write(&mut self.conn).await?;
        self.cancel_where_disabled(&ids).await?;
        Ok(released)
    }

    /// Gives back every lease: for the start of a process that is the database's only user.
    pub async fn delivery_lease_release_all(&mut self) -> Result<u64> {
        let released: Vec<String> = query(
            "UPDATE deliveries SET lease_token = NULL, lease_until = NULL WHERE lease_token IS NOT NULL RETURNING id",
        )
        .write_returning(&mut self.conn)
        .await?;
        self.cancel_where_disabled(&released).await?;
        Ok(u64::try_from(released.len()).unwrap_or(u64::MAX))
    }

    /// Writes outcomes where the token is still the holder's; returns the attempts that counted. A delivery for which
    /// a retry was asked while the attempt was in flight stays pending and is sent at `now`, on an endpoint that is
    /// held back as the probe, unless the attempt succeeded or the receiver is gone (contract 18.4-6).
    pub async fn delivery_settle(
        &mut self,
        settlements: &[&Settlement],
        now: Timestamp,
    ) -> Result<Vec<Settled>> {
        self.settle_attempts(settlements, now).await
    }
}

impl Tx {
    /// Cancels those of `ids` that returned to the backlog of an endpoint that was disabled or deleted meanwhile
    /// (contract 7.5); at that time they were in flight.
    pub(crate) async fn cancel_where_disabled(&mut self, ids: &[String]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let mut query = Query::new(
            "UPDATE deliveries SET status = 'cancelled', next_attempt_at = NULL, failure_reason = ( \
                 SELECT CASE WHEN e.deleted_at IS NULL THEN 'endpoint_disabled' ELSE 'endpoint_deleted' END \
                 FROM webhook_endpoints e WHERE e.id = deliveries.endpoint_id) \
             WHERE status = 'pending' AND lease_token IS NULL \
             AND EXISTS (SELECT 1 FROM webhook_endpoints e \
                 WHERE e.id = deliveries.endpoint_id AND e.status = 'disabled')",
        );
        query.push_in("id", ids);
        query.write(&mut self.conn).await?;
        Ok(())
    }
}
