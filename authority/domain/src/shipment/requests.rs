//! `POST /orders/:order/shipments` (contract 4.7).

use serde_json::Value;

use crate::body;
use crate::body::Text;
use crate::body::shared_members::{party_name, past};
use crate::id::LineItemId;
use crate::parts::Metadata;
use crate::refusal::{MemberCode, Result};
use crate::shipment::{NewShipment, ShipmentLine};
use crate::time::Timestamp;

impl NewShipment {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value, now: Timestamp) -> Result<Self> {
        body::read(body, |m| {
            m.not_writable("id order_number status delivered_at exception livemode");
            let new = NewShipment {
                carrier: party_name(m, "carrier").required(),
                service_level: m.string("service_level", Text::LINE).optional(),
                tracking_number: m.string("tracking_number", Text::line(1, 100)).optional(),
                tracking_url: m.https_url("tracking_url").optional(),
                line_items: m
                    .array("line_items", 1..=100, |line| ShipmentLine {
                        // Any text may be given: what is no line of this order is refused with its pointer.
                        line_item_id: line
                            .string("line_item_id", Text::ID)
                            .map(LineItemId::from_store)
                            .required(),
                        quantity: line.integer("quantity", 1..=100_000).required(),
                    })
                    .optional(),
                shipped_at: past(m, "shipped_at", now),
                estimated_delivery_at: m.time("estimated_delivery_at").optional(),
                metadata: m.metadata("metadata").or(Metadata::new()),
            };
            let shipped_at = new.shipped_at.unwrap_or(now);
            if new.estimated_delivery_at.is_some_and(|at| at < shipped_at) {
                m.refuse("estimated_delivery_at", MemberCode::Inconsistent, "must not be before shipped_at");
            }
            new
        })
    }
}
