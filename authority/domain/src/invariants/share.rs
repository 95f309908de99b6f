//! The copies that a partner got of a shared order: every version from the share on, and nothing after its end
//! (contract 3.10).
//!
//! The copies of one share are found in the partner's stream by the share's id. They do not count as versions of any
//! record (I7): they repeat the versions of the owner's order, one after the other, beginning with the version at
//! which it was shared.

use verify_core::catalog::EventType;

use super::stored_event::StoredEvent;
use super::{Finding, FindingCode};
use crate::event::partner_copy::is_copied;
use crate::partner::share::ShareStatus;

/// The copies of one share, oldest first.
#[derive(Clone, Debug)]
pub struct ShareFromEvents {
    /// The share.
    pub id: String,
    /// The sequence of the first copy; `None` when it was removed because of its age.
    pub first_sequence: Option<i64>,
    /// The version of the order that was told last; `None` when only parcels were told of.
    last_version: Option<i64>,
    /// Copies of parcels' events.
    parcels: i64,
    /// The last of them was told.
    ended: bool,
}

/// A share as it is stored, with what it is compared with.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // columns
pub struct StoredShare {
    pub id: String,
    pub status: ShareStatus,
    /// The place of its first copy.
    pub partner_sequence: i64,
    /// Whether the owner's stream tells of it at the place that the row names, or that place was removed.
    pub owner_told: bool,
    /// The connection was ended.
    pub connection_ended: bool,
    /// And it says that it has shares to be told of.
    pub to_end: bool,
    /// The version of the owner's order.
    pub order_version: i64,
    /// Events of the order's parcels in the owner's stream since the share; `None` when some were removed.
    pub parcels: Option<i64>,
}

impl ShareFromEvents {
    /// Before the first copy.
    pub(super) fn begin(id: &str) -> Self {
        Self { id: id.to_owned(), first_sequence: None, last_version: None, parcels: 0, ended: false }
    }

    /// Takes the next copy; `first` when there was none before it, `cut` when the stream once began before it does.
    pub(super) fn add(
        &mut self,
        event: &StoredEvent,
        event_type: EventType,
        version: i64,
        (first, cut): (bool, bool),
    ) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut found = |code, what: String| {
            let detail = format!("sequence {}: {what}", event.sequence);
            findings.push(Finding::new(code, self.id.as_str(), detail));
        };
        let name = event_type.as_str();
        if self.ended || !is_copied(event_type) {
            found(FindingCode::PartnerCopyUnexpected, format!("{name} is not for the partner to hear"));
        }
        match event_type {
            EventType::OrderShared if first => {
                self.first_sequence = Some(event.sequence);
                self.last_version = Some(version);
            }
            _ if first && !cut => {
                found(FindingCode::PartnerCopyMissing, format!("the copies begin with {name}"));
            }
            EventType::OrderShared => {
                found(FindingCode::PartnerCopyUnexpected, "the order is shared a second time".to_owned());
            }
            EventType::ShipmentCreated | EventType::ShipmentUpdated | EventType::ShipmentDelivered => {
                self.parcels += 1;
            }
            EventType::OrderShareRevoked => {
                self.ended = true;
                if let Some(last) = self.last_version.filter(|last| *last != version) {
                    let what = format!("it ends at version {version} after {last}");
                    found(FindingCode::PartnerCopyMissing, what);
                }
            }
            _ => {
                if let Some(last) = self.last_version.filter(|last| last + 1 != version) {
                    let what = format!("version {version} follows version {last}");
                    found(FindingCode::PartnerCopyMissing, what);
                }
                self.last_version = Some(version);
            }
        }
        findings
    }
}

/// Whether the copies of a share are what its row and its order ask for. `stored` is `None` when there is no row.
#[must_use]
pub fn check_share(told: &ShareFromEvents, stored: Option<&StoredShare>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |code, what: String| findings.push(Finding::new(code, told.id.as_str(), what));
    let Some(stored) = stored else {
        found(FindingCode::EventWithoutRecord, "copies tell of this share".to_owned());
        return findings;
    };
    if told.first_sequence.is_some_and(|first| first != stored.partner_sequence) {
        found(FindingCode::OrderShareDiffers, "column partner_sequence of the share".to_owned());
    }
    if !stored.owner_told {
        found(FindingCode::OrderShareDiffers, "the owner's stream does not tell of the share".to_owned());
    }
    match (stored.status, stored.connection_ended) {
        (ShareStatus::Revoked, _) if !told.ended => {
            found(FindingCode::PartnerCopyMissing, "its end was not told to the partner".to_owned());
        }
        (ShareStatus::Active, _) if told.ended => {
            found(FindingCode::PartnerCopyUnexpected, "its end was told, and it is active".to_owned());
        }
        (ShareStatus::Active, true) if !stored.to_end => {
            let what = "its connection was ended, and nobody will tell of it";
            found(FindingCode::OrderShareDiffers, what.to_owned());
        }
        (ShareStatus::Active, false) => {
            if let Some(last) = told.last_version.filter(|last| *last != stored.order_version) {
                let what =
                    format!("the order is at version {}, the last copy at {last}", stored.order_version);
                found(FindingCode::PartnerCopyMissing, what);
            }
            let parcels = stored.parcels.filter(|_| told.first_sequence.is_some());
            if let Some(parcels) = parcels.filter(|parcels| *parcels != told.parcels) {
                let what = format!("{parcels} events of parcels, {} copies", told.parcels);
                found(FindingCode::PartnerCopyMissing, what);
            }
        }
        _ => {}
    }
    findings
}
