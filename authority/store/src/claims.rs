//! Claims: due deliveries are leased to the dispatcher of this instance, as far as slots and capacity allow.

use std::collections::{BTreeMap, BTreeSet};

use authority_domain::{EndpointId, MerchantId, Timestamp};

use crate::error::Result;
use crate::hand_off::Lease;
use crate::slots::{Slots, Want, whole};
use crate::sql::transaction::Tx;

/// Deliveries per claim: bounds the transaction and the bodies in memory.
const CLAIM_MAX: usize = 256;

/// Deliveries of one endpoint per claim over all endpoints: each endpoint is looked at. An endpoint with more to send
/// continues as its outcomes are written.
const CLAIM_EACH_OF_ALL: usize = 16;

/// Whose due deliveries a claim looks for.
#[derive(Clone, Copy, Debug)]
pub enum Among<'e> {
    /// Everybody's.
    All,
    /// Those of these endpoints, the only ones that have some, as far as the transaction holds the turns of their
    /// merchants.
    Due(&'e [(EndpointId, MerchantId)]),
    /// The same where others may have some as well.
    SomeDue(&'e [(EndpointId, MerchantId)]),
    /// Those of these endpoints, each with how much this instance wants of it.
    These(&'e BTreeMap<EndpointId, Want>),
}

/// Leases due deliveries to this instance, as far as slots and capacity allow, to be sent after the commit. Does
/// nothing on an instance without a dispatcher. Returns true when it took the maximum of one claim, so that there may
/// be more.
///
/// # Errors
/// What the store reports.
pub async fn claim(tx: &mut Tx, among: Among<'_>, now: Timestamp) -> Result<bool> {
    let Some(dispatch) = tx.dispatch() else { return Ok(false) };
    let Some(free) = dispatch.slots.free() else {
        dispatch.slots.note_short();
        return Ok(false);
    };
    let limit = free.slots.min(CLAIM_MAX);
    let (wants, among_ids, each) = match among {
        Among::All => (free.endpoints, None, CLAIM_EACH_OF_ALL),
        Among::Due(due) | Among::SomeDue(due) => {
            let held = due.iter().filter(|(_, merchant)| tx.holds(merchant));
            let ids: Vec<EndpointId> = held.map(|(id, _)| id.clone()).collect();
            if ids.is_empty() {
                return Ok(false);
            }
            (free.endpoints, Some(ids), CLAIM_EACH_OF_ALL)
        }
        Among::These(wants) => (wants.clone(), Some(wants.keys().cloned().collect()), CLAIM_MAX),
    };
    let lease = Lease {
        limit: whole(limit),
        each: whole(each),
        per_merchant: whole(free.each),
        merchants: free.less.iter().map(|(id, room)| (id.clone(), whole(*room))).collect(),
        wants,
        among: among_ids,
        ..dispatch.lease(now)
    };
    let leased = tx.delivery_lease_due(&lease).await?;
    let may_be_more = leased.len() == CLAIM_MAX;
    let cut_short = leased.len() == limit;
    let mut claimed: BTreeMap<EndpointId, i64> = BTreeMap::new();
    let (mut too_many, mut refused) = (Vec::new(), BTreeSet::new());
    for delivery in leased {
        let endpoint = delivery.endpoint_id.clone();
        match dispatch.handed_off(delivery, &lease) {
            Ok(handed_off) => {
                *claimed.entry(endpoint).or_default() += 1;
                tx.hand_off(handed_off);
            }
            // Its pool is full, or the slots have just been closed.
            Err(id) => {
                dispatch.slots.leave_behind(&endpoint);
                too_many.push(id);
                refused.insert(endpoint);
            }
        }
    }
    if !too_many.is_empty() {
        tx.delivery_lease_release(&lease.token, &too_many).await?;
    }
    let not_held = |endpoint: &EndpointId| match among {
        Among::Due(due) => due.iter().any(|(id, merchant)| id == endpoint && !tx.holds(merchant)),
        Among::All | Among::SomeDue(_) | Among::These(_) => false,
    };
    let passed_over = |endpoint: &EndpointId| {
        refused.contains(endpoint)
            || lease.wants.get(endpoint).is_some_and(|want| want.most <= 0)
            || not_held(endpoint)
    };
    let caught_up = note_what_is_left(&dispatch.slots, among, &lease, &claimed, cut_short, passed_over);
    tx.job.effects.left_behind.retain(|endpoint| !caught_up.contains(endpoint));
    Ok(may_be_more && too_many.is_empty())
}

/// Claims, in the job's own transaction, the deliveries that the job made or hastened without checking capacity.
/// First come those that go as the probe of an endpoint that is held back. Without a dispatcher the wait of the hold
/// ends, and the first instance to claim may send the probe.
pub(crate) async fn claim_asked_for(tx: &mut Tx) -> Result<()> {
    for (id, endpoint, now) in std::mem::take(&mut tx.job.probes) {
        let Some(dispatch) = tx.dispatch() else {
            tx.endpoint_probe_now(&endpoint).await?;
            continue;
        };
        let lease = dispatch.lease(now);
        let Some(delivery) = tx.delivery_lease_probe(&lease, &id).await? else { continue };
        match dispatch.handed_off(delivery, &lease) {
            Ok(handed_off) => tx.hand_off(handed_off),
            Err(id) => {
                tx.delivery_lease_release(&lease.token, std::slice::from_ref(&id)).await?;
                tx.endpoint_probe_now(&endpoint).await?;
            }
        }
    }
    let Some((endpoints, now)) = tx.job.unasked.take() else { return Ok(()) };
    let Some(dispatch) = tx.dispatch() else { return Ok(()) };
    let want = |id: EndpointId| {
        let want = dispatch.slots.want(&id);
        (id, want)
    };
    let wants: BTreeMap<EndpointId, Want> = endpoints.into_iter().map(want).collect();
    claim(tx, Among::These(&wants), now).await?;
    Ok(())
}

/// Records which endpoints may have more due deliveries. An endpoint with claimed deliveries may have more, unless it
/// had capacity left. If slots ended the claim, the rest is unknown. So are endpoints that were passed over, because
/// it was not their turn or their pool was full. A claim for some endpoints tells nothing about the others. Returns
/// those that have no more.
fn note_what_is_left(
    slots: &Slots,
    among: Among<'_>,
    lease: &Lease,
    claimed: &BTreeMap<EndpointId, i64>,
    cut_short: bool,
    passed_over: impl Fn(&EndpointId) -> bool,
) -> BTreeSet<EndpointId> {
    let mut caught_up = BTreeSet::new();
    for endpoint in claimed.keys() {
        slots.leave_behind(endpoint);
    }
    match among {
        _ if cut_short => slots.note_short(),
        Among::All | Among::Due(_) => slots.looked_everywhere(passed_over),
        Among::SomeDue(_) | Among::These(_) => {
            for endpoint in lease.among.iter().flatten() {
                let most = lease.wants.get(endpoint).copied().unwrap_or_default().most.min(lease.each);
                if claimed.get(endpoint).copied().unwrap_or(0) < most && !passed_over(endpoint) {
                    slots.caught_up(endpoint);
                    caught_up.insert(endpoint.clone());
                }
            }
        }
    }
    caught_up
}
