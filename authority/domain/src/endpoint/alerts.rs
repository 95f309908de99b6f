//! The texts of the alerts that a merchant gets when an endpoint fails (contract 2.12, 7.5).
//!
//! This module only words them. The dispatcher, after each batch of attempts, and the endpoint upkeep, as time
//! passes, decide when alerts are raised and closed. No message carries a URL, a secret or what a receiver answered.

use crate::alert::{AlertCode, Severity};
use crate::endpoint::condition::DisablePolicy;
use crate::endpoint::{DEGRADED_AFTER, DisabledReason, Health, HealthState};

/// The alerts that no longer apply once their endpoint is disabled.
pub const OVER_WITH_ITS_ENDPOINT: [AlertCode; 3] =
    [AlertCode::EndpointFailing, AlertCode::TlsCertificateInvalid, AlertCode::BlockedAddress];

/// An alert without its subject and time.
pub type Said = (AlertCode, Severity, String);

/// The alert for failures: five in a row are a warning, a day of failures is critical; `None` for neither.
#[must_use]
pub fn failing(health: &Health) -> Option<Said> {
    let failures = health.consecutive_failures;
    let (severity, since) = match health.state {
        HealthState::Failing => (Severity::Critical, " and for a day none has succeeded"),
        _ if failures >= DEGRADED_AFTER => (Severity::Warning, ""),
        _ => return None,
    };
    let last = health.last_error.as_deref().unwrap_or("unknown");
    let message = format!("The last {failures} attempts failed{since}; the last one with {last}.");
    Some((AlertCode::EndpointFailing, severity, message))
}

/// The endpoint was disabled, and not by a request of its merchant. If the merchant's own receiver asked for it, the
/// alert is a warning, so that a mistake in the receiver does not go unnoticed.
#[must_use]
pub fn disabled(reason: DisabledReason, policy: DisablePolicy) -> Said {
    let hours = policy.after_ms / (60 * 60 * 1000);
    let (severity, why) = match reason {
        DisabledReason::Gone => (Severity::Critical, "The receiver answered 410".to_owned()),
        DisabledReason::Failing => {
            (Severity::Critical, format!("No attempt has succeeded for {hours} hours"))
        }
        DisabledReason::Merchant => (Severity::Warning, "The receiver asked for it".to_owned()),
        DisabledReason::Operator => (Severity::Warning, "The platform's operator decided so".to_owned()),
    };
    (AlertCode::EndpointDisabled, severity, format!("{why}; the endpoint is disabled."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_by_their_number_and_their_time() {
        let health = |state, consecutive_failures| Health {
            state,
            consecutive_failures,
            last_error: Some("timeout".to_owned()),
            ..Health::UNTRIED
        };
        assert_eq!(failing(&health(HealthState::Healthy, 4)), None);
        let (code, severity, message) = failing(&health(HealthState::Degraded, 5)).unwrap();
        assert_eq!((code, severity), (AlertCode::EndpointFailing, Severity::Warning));
        assert_eq!(message, "The last 5 attempts failed; the last one with timeout.");
        let (_, severity, message) = failing(&health(HealthState::Failing, 12)).unwrap();
        assert_eq!(severity, Severity::Critical);
        assert_eq!(
            message,
            "The last 12 attempts failed and for a day none has succeeded; the last one with timeout."
        );
    }

    #[test]
    fn each_reason_is_told() {
        let policy = DisablePolicy { after_ms: 7 * 60 * 60 * 1000 };
        let table = [
            (DisabledReason::Gone, Severity::Critical, "The receiver answered 410"),
            (DisabledReason::Failing, Severity::Critical, "No attempt has succeeded for 7 hours"),
            (DisabledReason::Merchant, Severity::Warning, "The receiver asked for it"),
            (DisabledReason::Operator, Severity::Warning, "The platform's operator decided so"),
        ];
        for (reason, severity, why) in table {
            let message = format!("{why}; the endpoint is disabled.");
            assert_eq!(disabled(reason, policy), (AlertCode::EndpointDisabled, severity, message));
        }
    }
}
