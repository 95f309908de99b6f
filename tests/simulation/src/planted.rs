//! Bugs that are planted to show that the judge notices them: what a broken dispatcher would do, done to it from
//! outside.
//!
//! Some falsify what the transport reports, some damage the database by a trigger, and some give the dispatcher other
//! settings or another clock than the judge goes by. The product itself is as it is shipped.

use authority::dispatch::transport::AttemptReport;
use authority_domain::AttemptOutcome;

use crate::network::Call;

/// A bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// A failed attempt now and then passes for a success.
    FailureTakenForSuccess,
    /// What a receiver asks for is passed over.
    RetryAfterIgnored,
    /// Attempts come before their time.
    TooEarly,
    /// Waits are varied by more than they may.
    TooMuchJitter,
    /// One attempt too many.
    BudgetExceeded,
    /// More requests in flight to an endpoint than it may get.
    CapExceeded,
    /// An endpoint that is held back is not.
    HoldForgotten,
    /// After a hold all requests come back at once.
    AllAtOnceAfterAHold,
    /// An attempt that the receiver put off uses up the schedule.
    PutOffUsesUpTheSchedule,
    /// An endpoint that was disabled goes on getting deliveries.
    DisabledStaysEnabled,
    /// A secret that was retired still signs.
    RetiredSecretSigns,
    /// What its former holder has to say of a delivery whose lease ran out counts.
    StaleTokenSettles,
    /// A delivery is never taken.
    DeliveryForgotten,
    /// An event is kept from an endpoint that wants it.
    DeliveryNotMade,
    /// Once its limit is halved, a later refusal passes for one more of the same moment.
    RefusalsBelongToTheFirst,
    /// A failing endpoint is never disabled.
    NeverDisabledForFailing,
}

impl Planted {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::FailureTakenForSuccess,
        Self::RetryAfterIgnored,
        Self::TooEarly,
        Self::TooMuchJitter,
        Self::BudgetExceeded,
        Self::CapExceeded,
        Self::HoldForgotten,
        Self::AllAtOnceAfterAHold,
        Self::PutOffUsesUpTheSchedule,
        Self::DisabledStaysEnabled,
        Self::RetiredSecretSigns,
        Self::StaleTokenSettles,
        Self::DeliveryForgotten,
        Self::DeliveryNotMade,
        Self::RefusalsBelongToTheFirst,
        Self::NeverDisabledForFailing,
    ];

    /// Whether a violation in these words is what this bug looks like.
    #[must_use]
    pub fn looks_like(self, violation: &str) -> bool {
        let words: &[&str] = match self {
            Self::FailureTakenForSuccess => {
                &["nobody has acknowledged", "is succeeded", "tells of", "counts"]
            }
            Self::RetryAfterIgnored => &["is due in", "is held back"],
            Self::TooEarly | Self::TooMuchJitter => &["is due in"],
            Self::BudgetExceeded => &["is pending (None), not failed"],
            Self::CapExceeded | Self::AllAtOnceAfterAHold => &["requests of at most"],
            Self::PutOffUsesUpTheSchedule => &["is due in", "is failed", "not pending"],
            Self::HoldForgotten => &["is held back"],
            Self::DisabledStaysEnabled => &["is enabled, not disabled"],
            Self::RetiredSecretSigns => &["signatures, not one for each of"],
            Self::StaleTokenSettles => &["calls itself attempt", "is failed", "is due in"],
            Self::DeliveryForgotten => &["is taken for", "nothing was sent", "is pending (None), not "],
            Self::DeliveryNotMade => &["was fanned out to"],
            Self::RefusalsBelongToTheFirst => &["refusals have left it"],
            // It stays enabled, and what waits for it is gone.
            Self::NeverDisabledForFailing => {
                &["should have been disabled", "is cancelled (Some(\"endpoint_disabled\"))"]
            }
        };
        words.iter().any(|words| violation.contains(words))
    }

    /// What the dispatcher is told instead of `report`.
    pub(crate) fn falsify(self, call: Call, report: AttemptReport) -> AttemptReport {
        match self {
            Self::FailureTakenForSuccess if call.is_multiple_of(7) => {
                AttemptReport { outcome: AttemptOutcome::Success, status: Some(200), ..report }
            }
            Self::RetryAfterIgnored => AttemptReport { retry_after_ms: None, ..report },
            _ => report,
        }
    }

    /// The trigger that damages the database.
    pub(crate) fn trigger(self) -> Option<&'static str> {
        match self {
            Self::TooEarly => Some(
                "CREATE TRIGGER planted AFTER UPDATE OF next_attempt_at ON deliveries \
                 WHEN NEW.attempt_count > OLD.attempt_count AND NEW.status = 'pending' AND NEW.attempt_count > 1 \
                 BEGIN UPDATE deliveries SET next_attempt_at = next_attempt_at - 90000 WHERE id = NEW.id; END",
            ),
            Self::HoldForgotten => Some(
                "CREATE TRIGGER planted AFTER UPDATE OF held_until ON webhook_endpoints WHEN NEW.held_until IS NOT NULL \
                 BEGIN UPDATE webhook_endpoints SET held_until = NULL WHERE id = NEW.id; END",
            ),
            Self::AllAtOnceAfterAHold => Some(
                "CREATE TRIGGER planted AFTER UPDATE OF hold_regained ON webhook_endpoints WHEN NEW.hold_regained > 0 \
                 BEGIN UPDATE webhook_endpoints SET hold_regained = 0 WHERE id = NEW.id; END",
            ),
            Self::PutOffUsesUpTheSchedule => Some(
                "CREATE TRIGGER planted AFTER UPDATE OF put_off_count ON deliveries WHEN NEW.put_off_count > 0 \
                 BEGIN UPDATE deliveries SET put_off_count = 0 WHERE id = NEW.id; END",
            ),
            Self::DisabledStaysEnabled => Some(
                "CREATE TRIGGER planted AFTER UPDATE OF status ON webhook_endpoints \
                 WHEN NEW.status = 'disabled' AND NEW.deleted_at IS NULL \
                 BEGIN UPDATE webhook_endpoints SET status = 'enabled' WHERE id = NEW.id; END",
            ),
            Self::RetiredSecretSigns => Some(
                "CREATE TRIGGER planted BEFORE DELETE ON endpoint_secrets BEGIN SELECT RAISE(IGNORE); END; \
                 CREATE TRIGGER planted_too AFTER UPDATE OF expires_at ON endpoint_secrets \
                 BEGIN UPDATE endpoint_secrets SET expires_at = NULL WHERE endpoint_id = NEW.endpoint_id; END",
            ),
            Self::StaleTokenSettles => Some(
                "CREATE TRIGGER planted AFTER UPDATE OF lease_token ON deliveries \
                 WHEN OLD.lease_token IS NOT NULL AND NEW.lease_token IS NOT NULL \
                 BEGIN UPDATE deliveries SET attempt_count = attempt_count + 1 WHERE id = NEW.id; END",
            ),
            Self::DeliveryForgotten => Some(
                "CREATE TRIGGER planted AFTER INSERT ON deliveries WHEN NEW.rowid % 23 = 0 \
                 BEGIN UPDATE deliveries SET lease_token = 'nobody', lease_until = 9000000000000 WHERE id = NEW.id; END",
            ),
            Self::DeliveryNotMade => Some(
                "CREATE TRIGGER planted AFTER INSERT ON deliveries WHEN NEW.rowid % 29 = 0 \
                 BEGIN DELETE FROM deliveries WHERE id = NEW.id; END",
            ),
            Self::NeverDisabledForFailing => Some(
                "CREATE TRIGGER planted AFTER UPDATE OF status ON webhook_endpoints WHEN NEW.disabled_reason = 'failing' \
                 BEGIN UPDATE webhook_endpoints SET status = 'enabled', disabled_reason = NULL, disabled_at = NULL \
                 WHERE id = NEW.id; END",
            ),
            _ => None,
        }
    }
}
