//! `POST /shipments/:id/reports` (contract 6.2, 3.7).

use serde_json::{Map, Value};

use crate::body;
use crate::body::Text;
use crate::body::shared_members::{failure, party_name, past};
use crate::refusal::{MemberCode, Result};
use crate::shipment::report::ShipmentReport;
use crate::time::Timestamp;

impl ShipmentReport {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value, now: Timestamp) -> Result<Self> {
        body::read(body, |m| {
            m.not_writable("id order_number line_items shipped_at delivered_at metadata");
            let report = ShipmentReport {
                status: m.one_of("status").optional(),
                carrier: party_name(m, "carrier").optional(),
                service_level: m.string("service_level", Text::LINE).or_null(),
                tracking_number: m.string("tracking_number", Text::line(1, 100)).or_null(),
                tracking_url: m.https_url("tracking_url").or_null(),
                estimated_delivery_at: m.time("estimated_delivery_at").or_null(),
                exception: m.object("exception", failure).optional(),
                occurred_at: past(m, "occurred_at", now),
            };
            let mut names = body.as_object().into_iter().flat_map(Map::keys);
            if !names.any(|name| name != "occurred_at") {
                m.refuse("", MemberCode::Required, "a status, tracking data or an exception is needed");
            }
            report
        })
    }
}
