//! The shipment's state machine: what the carrier reports (contract 3.7, 6.2).
//!
//! A report moves the parcel, corrects its tracking data, or both in one version. Repeating what is already so
//! changes nothing. `delivered`, `returned` and `cancelled` are ends: nothing more is written to a parcel that
//! reached one.

use crate::body::{occurrence, party_name};
use crate::parts::Failure;
use crate::refusal::{MemberCode, Refusal, Result};
use crate::shipment::{Shipment, ShipmentStatus};
use crate::time::Timestamp;

/// One report of the carrier about a parcel, already read member by member; says at least one thing.
#[derive(Clone, Debug, Default)]
pub struct ShipmentReport {
    /// Where the carrier saw it.
    pub status: Option<ShipmentStatus>,
    /// Another carrier has taken it over.
    pub carrier: Option<String>,
    /// `Some(None)` clears, as with the next three.
    pub service_level: Option<Option<String>>,
    /// Unique per order and carrier.
    pub tracking_number: Option<Option<String>>,
    /// Where people can follow it.
    pub tracking_url: Option<Option<String>>,
    /// Not before the parcel was shipped.
    pub estimated_delivery_at: Option<Option<Timestamp>>,
    /// Why it is held up; goes with the status `exception` alone.
    pub exception: Option<Failure>,
    /// When it happened at the carrier; defaults to now.
    pub occurred_at: Option<Timestamp>,
}

/// What a report did to a parcel.
#[derive(Clone, Debug)]
pub enum ShipmentOutcome {
    /// The next version.
    Changed(Box<Shipment>),
    /// The parcel is already as reported: nothing happens.
    Unchanged(Box<Shipment>),
}

/// Whether the carrier may move a parcel from one status to another (contract 3.7).
fn may_follow(from: ShipmentStatus, to: ShipmentStatus) -> bool {
    use ShipmentStatus::{Cancelled, Created, Delivered, Exception, InTransit, Returned};
    matches!(
        (from, to),
        (Created | Exception, InTransit)
            | (Created | InTransit, Exception)
            | (Created | InTransit | Exception, Delivered | Returned)
            | (Created, Cancelled)
    )
}

impl Shipment {
    /// Applies a carrier's report.
    ///
    /// # Errors
    /// `validation_failed` when an exception is given with another status, or the delivery is estimated before the
    /// parcel was shipped; `invalid_state_transition` when the parcel cannot move there, or has come to its end.
    pub fn report(self, report: &ShipmentReport, now: Timestamp) -> Result<ShipmentOutcome> {
        occurrence::check(report.occurred_at, self.created_at)?;
        let to = report.status.unwrap_or(self.status);
        if report.exception.is_some() && to != ShipmentStatus::Exception {
            let detail = "goes with the status exception alone";
            return Err(Refusal::member("/exception", MemberCode::Inconsistent, detail));
        }
        let mut next = self.clone();
        next.correct(report)?;
        if to != self.status {
            if !may_follow(self.status, to) {
                return Err(self.cannot_become(to));
            }
            next.status = to;
            next.exception = None;
        }
        if report.exception.is_some() {
            next.exception.clone_from(&report.exception);
        }
        if next == self {
            return Ok(ShipmentOutcome::Unchanged(Box::new(self)));
        }
        if !self.status.is_open() {
            return Err(self.cannot_become(to));
        }
        if to == ShipmentStatus::Delivered {
            next = next.deliver(report.occurred_at.unwrap_or(now), now);
        } else {
            next = next.next_version(now);
        }
        Ok(ShipmentOutcome::Changed(Box::new(next)))
    }

    /// The next version, at the customer since `at`.
    #[must_use]
    pub(crate) fn deliver(mut self, at: Timestamp, now: Timestamp) -> Self {
        self.status = ShipmentStatus::Delivered;
        self.exception = None;
        self.delivered_at = Some(at);
        self.next_version(now)
    }

    fn correct(&mut self, report: &ShipmentReport) -> Result<()> {
        if let Some(carrier) =
            report.carrier.as_ref().filter(|told| !party_name::is_same(told, &self.carrier))
        {
            self.carrier.clone_from(carrier);
        }
        if let Some(level) = &report.service_level {
            self.service_level.clone_from(level);
        }
        if let Some(number) = &report.tracking_number {
            self.tracking_number.clone_from(number);
        }
        if let Some(url) = &report.tracking_url {
            self.tracking_url.clone_from(url);
        }
        if let Some(estimate) = report.estimated_delivery_at {
            if estimate.is_some_and(|at| at < self.shipped_at) {
                let detail = "must not be before shipped_at";
                return Err(Refusal::member("/estimated_delivery_at", MemberCode::Inconsistent, detail));
            }
            self.estimated_delivery_at = estimate;
        }
        Ok(())
    }

    fn cannot_become(&self, to: ShipmentStatus) -> Refusal {
        let detail = if to == self.status {
            format!("The shipment is {to}; nothing more is reported about it.")
        } else {
            format!("The shipment is {}; it cannot become {to}.", self.status)
        };
        Refusal::transition(self.status.as_str(), to.as_str(), detail)
    }
}
