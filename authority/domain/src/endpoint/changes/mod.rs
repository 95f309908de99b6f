//! The changes of a webhook endpoint: its merchant changes it, it is disabled or enabled, its secret is rotated
//! (contract 4.10, 7.5).
//!
//! Each function takes one version and returns the next, or says that nothing changes. The use case writes what goes
//! with it in the same transaction: the waiting deliveries of a disabled endpoint and the sealed secrets.
//! Deliberately absent: deleting. A deleted endpoint has no next version; the store hides it.

use std::collections::BTreeMap;

use url::Url;

use crate::bounds::METADATA_ENTRIES;
use crate::delivery::retry::RetrySchedule;
use crate::endpoint::client_certificate::NewClientCertificate;
use crate::endpoint::headers::RequestHeaders;
use crate::endpoint::{DisabledReason, Endpoint, EndpointStatus, HealthState};
use crate::error_code::ErrorCode;
use crate::parts::Metadata;
use crate::refusal::{MemberCode, Refusal, Result};
use crate::time::Timestamp;

/// The longest time two secrets may be valid side by side: 7 days, in seconds.
pub const OVERLAP_MAX_S: i64 = 604_800;

/// The usual overlap: a day, in seconds.
pub const OVERLAP_DEFAULT_S: i64 = 86_400;

/// What a merchant changes of its endpoint; `None` leaves a member as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointPatch {
    /// Normalised, and within the rules of contract 7.6.
    pub url: Option<String>,
    /// Sorted, without duplicates.
    pub enabled_events: Option<Vec<String>>,
    /// `Some(None)` clears it.
    pub description: Option<Option<String>>,
    /// `Some(None)` leaves it to the default.
    pub max_in_flight: Option<Option<i64>>,
    /// Disables the endpoint for the merchant, or enables it no matter why it was disabled.
    pub status: Option<EndpointStatus>,
    /// Takes the place of all headers; the empty set removes them. The caller seals and stores the values.
    pub headers: Option<RequestHeaders>,
    /// Takes the place of the client certificate, with what the caller has found in it; `Some(None)` removes it. The
    /// caller seals and stores it.
    pub client_certificate: Option<Option<NewClientCertificate>>,
    /// `Some(None)` leaves it to the deployment, milliseconds.
    pub timeout_ms: Option<Option<i64>>,
    /// How long failing deliveries are tried again, from the attempts on that begin after the change.
    pub retry_schedule: Option<RetrySchedule>,
    /// Entries to set and, where `None`, to remove.
    pub metadata: Option<BTreeMap<String, Option<String>>>,
}

impl Endpoint {
    /// The endpoint after `patch`; `None` when the patch changes nothing. Headers and a client certificate that
    /// are set count as a change, because the record does not have what was there before to compare with.
    ///
    /// # Errors
    /// `validation_failed` when more metadata would be left than an endpoint may have, or more requests in flight than
    /// the merchant may have, or when headers would go to another host than they were given for.
    pub fn patched(&self, patch: EndpointPatch, now: Timestamp) -> Result<Option<Self>> {
        let keeps_headers = patch.headers.is_none() && !self.header_names.is_empty();
        if keeps_headers && patch.url.as_ref().is_some_and(|url| !same_origin(url, &self.url)) {
            return Err(headers_for_another_host());
        }
        let mut next = self.clone();
        next.url = patch.url.unwrap_or(next.url);
        next.enabled_events = patch.enabled_events.unwrap_or(next.enabled_events);
        next.description = patch.description.unwrap_or(next.description);
        let sets_headers = patch.headers.as_ref().is_some_and(|headers| !headers.is_empty());
        let sets_certificate = matches!(patch.client_certificate, Some(Some(_)));
        if let Some(new) = patch.client_certificate {
            next.client_certificate = new.and_then(|new| new.shown());
        }
        next.header_names = patch.headers.map_or(next.header_names, |headers| headers.names());
        next.timeout_ms = patch.timeout_ms.unwrap_or(next.timeout_ms);
        next.retry_schedule = patch.retry_schedule.unwrap_or(next.retry_schedule);
        if let Some(own) = patch.max_in_flight {
            next.max_in_flight = next.max_in_flight.set(own)?;
        }
        if let Some(metadata) = patch.metadata {
            next.metadata = merged(next.metadata, metadata)?;
        }
        match (next.status, patch.status) {
            (EndpointStatus::Enabled, Some(EndpointStatus::Disabled)) => {
                next.set_disabled(DisabledReason::Merchant, now);
            }
            (EndpointStatus::Disabled, Some(EndpointStatus::Enabled)) => next.set_enabled(),
            _ => {}
        }
        Ok((sets_headers || sets_certificate || next != *self).then(|| next.versioned(now)))
    }

    /// The endpoint disabled for `reason`; `None` when it is disabled already.
    #[must_use]
    pub fn disabled(&self, reason: DisabledReason, now: Timestamp) -> Option<Self> {
        let enabled = self.status == EndpointStatus::Enabled;
        enabled.then(|| self.next(now, |next| next.set_disabled(reason, now)))
    }

    /// The endpoint enabled, its failures forgotten; `None` when it is enabled already.
    #[must_use]
    pub fn enabled(&self, now: Timestamp) -> Option<Self> {
        (self.status == EndpointStatus::Disabled).then(|| self.next(now, Self::set_enabled))
    }

    /// The endpoint with a new secret, whose end is `secret_hint`; the present one stays valid for `overlap_s` seconds.
    ///
    /// # Errors
    /// `rotation_in_progress` while the overlap of the rotation before is open, unless `force` ends it.
    pub fn rotated(&self, secret_hint: String, overlap_s: i64, force: bool, now: Timestamp) -> Result<Self> {
        if let Some(until) = self.overlap_open_until(now)
            && !force
        {
            let detail =
                format!("The secret before is valid until {until}; retire it first, or rotate with force.");
            return Err(Refusal::new(ErrorCode::RotationInProgress, detail));
        }
        Ok(self.next(now, |next| {
            next.secret_hint = secret_hint;
            next.secret_rotated_at = Some(now);
            next.previous_secret_expires_at = (overlap_s > 0).then(|| now.plus_ms(overlap_s * 1000));
        }))
    }

    /// The endpoint with only its newest secret; `None` when it has no other.
    #[must_use]
    pub fn retired(&self, now: Timestamp) -> Option<Self> {
        self.overlap_open_until(now).map(|_| self.next(now, |next| next.previous_secret_expires_at = None))
    }

    /// The endpoint as it shows at `now`: an overlap that has run out is over, whether or not the old secret has been
    /// removed yet, and so is a hold.
    #[must_use]
    pub fn seen_at(mut self, now: Timestamp) -> Self {
        self.previous_secret_expires_at = self.overlap_open_until(now);
        self.held_until = self.held_until.filter(|until| *until > now);
        self.held_reason = self.held_reason.filter(|_| self.held_until.is_some());
        self
    }

    fn overlap_open_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.previous_secret_expires_at.filter(|until| *until > now)
    }

    fn set_disabled(&mut self, reason: DisabledReason, now: Timestamp) {
        self.status = EndpointStatus::Disabled;
        self.disabled_reason = Some(reason);
        self.disabled_at = Some(now);
    }

    fn set_enabled(&mut self) {
        self.status = EndpointStatus::Enabled;
        self.disabled_reason = None;
        self.disabled_at = None;
        self.health.state = HealthState::Unknown;
        self.health.consecutive_failures = 0;
    }

    /// The next version, with this change.
    fn next(&self, now: Timestamp, change: impl FnOnce(&mut Self)) -> Self {
        let mut next = self.clone();
        change(&mut next);
        next.versioned(now)
    }

    fn versioned(mut self, now: Timestamp) -> Self {
        self.resource_version += 1;
        // A clock that was set back takes no record back.
        self.updated_at = now.max(self.updated_at);
        self
    }
}

/// Whether both lead to one scheme, host and port.
fn same_origin(one: &str, other: &str) -> bool {
    let origin = |url| Url::parse(url).ok().map(|url| url.origin());
    origin(one) == origin(other)
}

/// The values are never shown, so nobody may get to see them by pointing the endpoint at a host of its own.
fn headers_for_another_host() -> Refusal {
    let detail = "The URL leads to another host. Give the headers again with it, or null to remove them.";
    Refusal::member("/headers", MemberCode::Required, detail)
}

fn merged(mut metadata: Metadata, patch: BTreeMap<String, Option<String>>) -> Result<Metadata> {
    for (key, value) in patch {
        match value {
            Some(value) => metadata.insert(key, value),
            None => metadata.remove(&key),
        };
    }
    if metadata.len() > METADATA_ENTRIES {
        let detail = format!("There would be {} entries; {METADATA_ENTRIES} are allowed.", metadata.len());
        return Err(Refusal::member("/metadata", MemberCode::TooLong, detail));
    }
    Ok(metadata)
}

#[cfg(test)]
mod tests;
