//! What a batch of attempts shows about one receiver, and the alerts that it opens and closes (contract 2.12, 7.5).
//!
//! An alert is raised each time its condition is seen, and closed when an attempt shows that the condition is gone.
//! An attempt that ended in a timeout shows nothing about the address or the certificate. One to a URL that the
//! endpoint had before shows nothing of that kind either, and who is gone there disables nothing.

use authority_domain::alert::Severity;
use authority_domain::delivery::outcome::{OutcomeClass, ReceiverWish};
use authority_domain::endpoint::alerts::{Said, failing};
use authority_domain::endpoint::{DEGRADED_AFTER, Health};
use authority_domain::{AlertCode, AttemptOutcome, DisabledReason};

use super::verdict::Attempted;

/// What one batch shows about one endpoint.
#[derive(Default)]
pub(super) struct Symptoms {
    succeeded: bool,
    failed: bool,
    /// Whether the receiver's address was refused, by the last attempt that got far enough to show it.
    blocked: Option<bool>,
    /// The same for its certificate.
    bad_certificate: Option<bool>,
    /// A delivery in the batch has no attempt left.
    given_up: bool,
    /// A replay or a recovery brought an event to the receiver.
    pub(super) caught_up: bool,
    /// The reason for disabling the endpoint, when the receiver has asked for nothing more.
    pub(super) refused_for_good: Option<DisabledReason>,
}

impl Symptoms {
    /// `url`: where the endpoint's deliveries go now. `given_up`: the delivery of this attempt has failed and gets no
    /// further one.
    pub(super) fn note(&mut self, attempt: &Attempted, url: &str, given_up: bool) {
        if attempt.url == url {
            self.note_receiver(attempt);
        }
        if attempt.class == OutcomeClass::Success {
            self.succeeded = true;
            self.caught_up |= attempt.catching_up;
            return;
        }
        self.failed = true;
        self.given_up |= given_up;
    }

    /// What the attempt shows of the receiver at its URL.
    fn note_receiver(&mut self, attempt: &Attempted) {
        match attempt.outcome {
            AttemptOutcome::BlockedAddress => self.blocked = Some(true),
            AttemptOutcome::TlsError => {
                self.blocked = Some(false);
                self.bad_certificate = Some(true);
            }
            _ if attempt.status.is_some() => {
                self.blocked = Some(false);
                self.bad_certificate = Some(false);
            }
            _ => {}
        }
        if attempt.class == OutcomeClass::Gone {
            self.refused_for_good = Some(DisabledReason::Gone);
        } else if attempt.class != OutcomeClass::Success && attempt.wish == Some(ReceiverWish::Disable) {
            self.refused_for_good = self.refused_for_good.or(Some(DisabledReason::Merchant));
        }
    }

    /// The alerts whose condition this batch shows.
    pub(super) fn raised(&self, health: &Health) -> Vec<Said> {
        let conditions = [
            (self.given_up, AlertCode::DeliveriesFailed, "A delivery has no attempt left."),
            (
                self.bad_certificate == Some(true),
                AlertCode::TlsCertificateInvalid,
                "No trusted TLS connection can be made to the receiver.",
            ),
            (
                self.blocked == Some(true),
                AlertCode::BlockedAddress,
                "The receiver's name leads to an address to which nothing is sent.",
            ),
        ];
        let seen = conditions.into_iter().filter(|(seen, ..)| *seen);
        let seen = seen.map(|(_, code, message)| (code, Severity::Warning, message.to_owned()));
        failing(health).filter(|_| self.failed).into_iter().chain(seen).collect()
    }

    /// The alerts whose condition this batch shows to be gone.
    pub(super) fn closed(&self, health: &Health) -> Vec<AlertCode> {
        let over = [
            (self.succeeded && health.consecutive_failures < DEGRADED_AFTER, AlertCode::EndpointFailing),
            (self.bad_certificate == Some(false), AlertCode::TlsCertificateInvalid),
            (self.blocked == Some(false), AlertCode::BlockedAddress),
        ];
        over.into_iter().filter(|(over, _)| *over).map(|(_, code)| code).collect()
    }
}
