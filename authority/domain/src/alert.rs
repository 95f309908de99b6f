//! Alerts: conditions that a person should look at. An alert is open until its condition is gone (contract 2.12,
//! 6.2).
//!
//! An alert is one row per (owner, code, subject) while it is open; raising it again increases its count. A
//! merchant's alerts are shown in its integration health; the operator's alerts are not shown to any merchant.

use crate::id::{AlertId, EndpointId};
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// What an alert is about.
    AlertCode {
        /// An endpoint keeps failing.
        EndpointFailing = "endpoint_failing",
        /// An endpoint was disabled by the service or an operator.
        EndpointDisabled = "endpoint_disabled",
        /// A delivery ran out of attempts.
        DeliveriesFailed = "deliveries_failed",
        /// Two signing secrets are valid.
        SecretOverlapOpen = "secret_overlap_open",
        /// A receiver's certificate does not verify.
        TlsCertificateInvalid = "tls_certificate_invalid",
        /// An endpoint's name leads to an address that is refused.
        BlockedAddress = "blocked_address",
        /// An endpoint is pinned to a version that ends.
        ApiVersionDeprecated = "api_version_deprecated",
        /// Due deliveries wait too long.
        OutboxDelayed = "outbox_delayed",
        /// Operator: a payment succeeded after its checkout or order had ended (contract 18.3).
        LatePayment = "late_payment",
        /// Operator: a processor's or carrier's report was refused (contract 3.5, 6.2).
        ReportRefused = "report_refused",
    }
}

text_enum! {
    /// How much an alert matters.
    Severity as "AlertSeverity" {
        /// To know.
        Info = "info",
        /// To look at.
        Warning = "warning",
        /// To act on.
        Critical = "critical",
    }
}

text_enum! {
    /// Whether an alert still stands.
    AlertStatus {
        /// Nobody has closed it, and its condition is not gone.
        Open = "open",
        /// Somebody has looked, or its condition is gone.
        Closed = "closed",
    }
}

/// An alert to be raised.
#[derive(Clone, Debug)]
pub struct NewAlert {
    /// Used when no alert of this owner, code and subject is open.
    pub id: AlertId,
    /// What it is about.
    pub code: AlertCode,
    /// How much it matters.
    pub severity: Severity,
    /// The record it is about, an endpoint or a payment; empty for the whole.
    pub subject: String,
    /// For people; no secret, no other tenant's data.
    pub message: String,
}

/// An alert.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the members are those of contract 2.12
pub struct Alert {
    pub id: AlertId,
    pub code: AlertCode,
    pub severity: Severity,
    pub subject: String,
    pub message: String,
    pub count: i64,
    pub first_seen_at: Timestamp,
    pub last_seen_at: Timestamp,
    pub closed_at: Option<Timestamp>,
}

impl Alert {
    /// Whether it still stands.
    #[must_use]
    pub fn status(&self) -> AlertStatus {
        if self.closed_at.is_none() { AlertStatus::Open } else { AlertStatus::Closed }
    }

    /// The endpoint, when the alert is about one.
    #[must_use]
    pub fn endpoint_id(&self) -> Option<EndpointId> {
        EndpointId::parse(&self.subject)
    }
}
