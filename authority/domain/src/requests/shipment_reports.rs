//! `POST /shipments/:id/reports` (contract 6.2, 3.7).

use serde_json::{Map, Value};

use super::FUTURE_ALLOWANCE_MS;
use super::parts::failure;
use crate::members::{self, Text};
use crate::refusal::{MemberCode, Refusal};
use crate::shipment_report::ShipmentReport;
use crate::time::Timestamp;

/// A carrier's report about a parcel.
#[derive(Clone, Debug)]
pub struct ShipmentReportRequest(ShipmentReport);

impl ShipmentReportRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value, now: Timestamp) -> Result<Self, Refusal> {
        members::read(body, |m| {
            m.not_writable(&["id", "order_number", "line_items", "shipped_at", "delivered_at", "metadata"]);
            let report = ShipmentReport {
                status: m.one_of("status").patch_not_null(),
                carrier: m.string("carrier", Text::line(1, 64)).patch_not_null(),
                service_level: m.string("service_level", Text::LINE).patch(),
                tracking_number: m.string("tracking_number", Text::line(1, 100)).patch(),
                tracking_url: m.https_url("tracking_url").patch(),
                estimated_delivery_at: m.time("estimated_delivery_at").patch(),
                exception: m.object("exception", failure).patch_not_null(),
                occurred_at: m.time("occurred_at").optional(),
            };
            let mut names = body.as_object().into_iter().flat_map(Map::keys);
            if !names.any(|name| name != "occurred_at") {
                m.refuse("", MemberCode::Required, "a status, tracking data or an exception is needed");
            }
            if report.occurred_at.is_some_and(|at| at > now.plus_ms(FUTURE_ALLOWANCE_MS)) {
                m.refuse(
                    "occurred_at",
                    MemberCode::OutOfRange,
                    "must not be more than 5 minutes in the future",
                );
            }
            Self(report)
        })
    }

    /// The checked members.
    #[must_use]
    pub fn into_report(self) -> ShipmentReport {
        self.0
    }
}
