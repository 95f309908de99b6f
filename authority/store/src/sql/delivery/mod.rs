//! Deliveries and attempts: lease, act, settle (T4).
//!
//! A lease is a token and a time written into due deliveries in a short transaction. The holder sends while no
//! transaction is open, and settles only where the token is still its own. After the end of the lease any other
//! holder may take the delivery, so a dead process blocks nothing.

pub(crate) mod day_figures;
pub(crate) mod history;
pub(crate) mod lease;
pub(crate) mod leased;
pub(crate) mod settlements;

use authority_domain::{Tenant, Timestamp};

use crate::hand_off::{HeldBy, NewDelivery};
use crate::sql::{Form, Result, Shard, Table, TableOrder, Together, Touches, Tx, columns, row};

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
    /// ([`crate::claims`]).
    Unasked,
}

/// New deliveries. The position of each continues from the endpoint's last delivery; the statement does not see its
/// own rows. Those of the platform's endpoint have numbers of their own where transactions of several shards make them
/// at once.
static DELIVERIES: Table = Table {
    order: TableOrder::Delivery,
    touches: Touches::Any,
    columns: columns!(into "INSERT INTO deliveries (shard, id, merchant_id, livemode, event_shard, event_id, event_type, sequence, endpoint_id, triggered_by, \
        status, attempt_count, next_attempt_at, created_at, updated_at, lease_token, lease_until, created_sequence)";
        Shard, Text, Text, Bool, Shard, Text, Text, Int, Text, Text, Int, Text, Int, Int),
    form: Form::SelectIn(|dialect| dialect.new_delivery),
    rest: "",
    // Numbered per endpoint: its id has index 8.
    together: Together::Numbered(8),
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
    pub(crate) async fn deliveries_insert_placed(
        &mut self,
        tenant: &Tenant,
        deliveries: &[(&NewDelivery, NewDeliveryState<'_>)],
        now: Timestamp,
    ) -> Result<()> {
        if deliveries.is_empty() {
            return Ok(());
        }
        let shard = Shard::of(&tenant.merchant_id);
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
                    // Without a holder it goes before any other, so no capacity is left.
                    self.conn.cache.leave_room(endpoint, 0);
                    self.leave_behind(endpoint);
                }
                NewDeliveryState::Unasked => self.ask_for_room(endpoint, now),
            }
            self.conn.buffer(
                &DELIVERIES,
                [],
                row!(
                    shard, delivery.id.as_str(), tenant.merchant_id.as_str(), tenant.livemode;
                    delivery.event_shard, delivery.event_id.as_str(), delivery.event_type, delivery.sequence;
                    delivery.endpoint_id.as_str(), delivery.trigger.as_str(), now.as_ms();
                    held.map(|held| held.token.as_str()), held.map(|held| held.until.as_ms())),
            );
        }
        Ok(())
    }
}
