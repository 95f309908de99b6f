//! Requests about webhook endpoints: create, change, rotate the secret, test (contract 4.10).

use serde_json::Value;
use verify_core::catalog::API_VERSION;

use crate::body;
use crate::body::{Field, Members, Text};
use crate::delivery::retry::RetrySchedule;
use crate::endpoint::changes::{EndpointPatch, OVERLAP_DEFAULT_S, OVERLAP_MAX_S};
use crate::endpoint::client_certificate::{self, NewClientCertificate};
use crate::endpoint::forbidden_url::allowed;
use crate::endpoint::headers::{self, RequestHeaders};
use crate::endpoint::url::UrlRules;
use crate::endpoint::{
    DisabledReason, Endpoint, EndpointStatus, Health, SignatureProfile, TIMEOUT_MAX_MS, TIMEOUT_MIN_MS,
    is_filter,
};
use crate::id::EndpointId;
use crate::merchant::limits::{IN_FLIGHT_MAX, MaxInFlight};
use crate::parts::Metadata;
use crate::refusal::{MemberCode, Result};
use crate::time::Timestamp;

/// Members of the record that no request can write.
const NOT_WRITABLE: &str = "\
    id object secret secret_hint header_names health held_until held_reason disabled_reason disabled_at \
    livemode previous_secret_expires_at secret_rotated_at resource_version created_at updated_at";

/// A request to create an endpoint.
#[derive(Clone, Debug)]
pub struct EndpointRequest {
    url: String,
    enabled_events: Vec<String>,
    max_in_flight: MaxInFlight,
    description: Option<String>,
    status: EndpointStatus,
    signature_profile: SignatureProfile,
    headers: RequestHeaders,
    client_certificate: Option<NewClientCertificate>,
    timeout_ms: Option<i64>,
    retry_schedule: RetrySchedule,
    metadata: Metadata,
}

impl EndpointRequest {
    /// Reads the body. [`EndpointRequest::within`] checks the merchant's in-flight limit.
    ///
    /// # Errors
    /// 422 with every wrong member; `endpoint_url_forbidden` when all are well-formed and the URL breaks contract 7.6.
    pub fn read(body: &Value, rules: &UrlRules, livemode: bool) -> Result<Self> {
        let request = body::read(body, |m| {
            m.not_writable(NOT_WRITABLE);
            api_version(m).optional();
            Self {
                url: m.string("url", Text::line(1, 2048)).required(),
                enabled_events: event_filters(m, "enabled_events").or(vec!["*".to_owned()]),
                max_in_flight: MaxInFlight {
                    own: m.integer("max_in_flight", 1..=IN_FLIGHT_MAX).optional(),
                    of_merchant: None,
                },
                description: m.string("description", Text::LINE).optional(),
                status: m.one_of("status").or(EndpointStatus::Enabled),
                signature_profile: m.one_of("signature_profile").or(SignatureProfile::Service),
                headers: headers::read(m).unwrap_or_default(),
                client_certificate: client_certificate::read(m).flatten(),
                timeout_ms: timeout_ms(m).or_null().flatten(),
                retry_schedule: m.one_of("retry_schedule").or(RetrySchedule::Standard),
                metadata: m.metadata("metadata").or(Metadata::new()),
            }
        })?;
        Ok(Self { url: allowed(&request.url, rules, livemode)?, ..request })
    }

    /// The same request, checked against the in-flight limit that the operator set for the merchant, if any.
    ///
    /// # Errors
    /// `validation_failed` when more is asked for.
    pub fn within(self, of_merchant: Option<i64>) -> Result<Self> {
        let max_in_flight = MaxInFlight { own: None, of_merchant }.set(self.max_in_flight.own)?;
        Ok(Self { max_in_flight, ..self })
    }

    /// The form of the endpoint's secrets, and the headers of its deliveries.
    #[must_use]
    pub const fn signature_profile(&self) -> SignatureProfile {
        self.signature_profile
    }

    /// The headers of its deliveries beside the service's own, to be sealed and stored beside the record.
    #[must_use]
    pub const fn headers(&self) -> &RequestHeaders {
        &self.headers
    }

    /// The same request, with what `inspect` finds in its client certificate, if it has one.
    ///
    /// # Errors
    /// Those of `inspect`.
    pub fn inspected(
        mut self,
        inspect: impl FnOnce(NewClientCertificate) -> Result<NewClientCertificate>,
    ) -> Result<Self> {
        self.client_certificate = self.client_certificate.take().map(inspect).transpose()?;
        Ok(self)
    }

    /// The client certificate of its deliveries, to be sealed and stored beside the record.
    #[must_use]
    pub const fn client_certificate(&self) -> Option<&NewClientCertificate> {
        self.client_certificate.as_ref()
    }

    /// Version 1 of the endpoint; `secret_hint` shows the end of its first secret.
    #[must_use]
    pub fn into_endpoint(
        self,
        id: EndpointId,
        secret_hint: String,
        livemode: bool,
        now: Timestamp,
    ) -> Endpoint {
        let disabled = self.status == EndpointStatus::Disabled;
        Endpoint {
            id,
            url: self.url,
            description: self.description,
            enabled_events: self.enabled_events,
            max_in_flight: self.max_in_flight,
            status: self.status,
            disabled_reason: disabled.then_some(DisabledReason::Merchant),
            disabled_at: disabled.then_some(now),
            api_version: API_VERSION.to_owned(),
            signature_profile: self.signature_profile,
            header_names: self.headers.names(),
            client_certificate: self.client_certificate.and_then(|new| new.shown()),
            timeout_ms: self.timeout_ms,
            retry_schedule: self.retry_schedule,
            secret_hint,
            previous_secret_expires_at: None,
            secret_rotated_at: None,
            health: Health::UNTRIED,
            held_until: None,
            held_reason: None,
            metadata: self.metadata,
            resource_version: 1,
            livemode,
            created_at: now,
            updated_at: now,
        }
    }
}

/// `*`, event types and `<category>.*`; sorted and without duplicates.
pub(crate) fn event_filters<'m>(m: &'m mut Members<'_>, name: &'static str) -> Field<'m, Vec<String>> {
    let filter = |value: &Value| {
        let filter = Text::line(1, 128).check(value)?;
        let wrong = || (MemberCode::InvalidValue, "Must be *, an event type or <category>.*.".to_owned());
        is_filter(&filter).then_some(filter).ok_or_else(wrong)
    };
    m.list(name, 1..=64, filter).sorted()
}

/// `api_version`: there is one.
fn api_version<'m>(m: &'m mut Members<'_>) -> Field<'m, ()> {
    m.parsed("api_version", Text::LINE, "a supported version", (), |text| (text == API_VERSION).then_some(()))
}

/// `timeout_ms`: the deadline of an attempt.
fn timeout_ms<'m>(m: &'m mut Members<'_>) -> Field<'m, i64> {
    m.integer("timeout_ms", TIMEOUT_MIN_MS..=TIMEOUT_MAX_MS)
}

/// Reads the body of `PATCH /webhook-endpoints/:id`.
///
/// # Errors
/// 422 with every wrong member; `endpoint_url_forbidden` when all are well-formed and the URL breaks contract 7.6.
pub fn read_endpoint_patch(body: &Value, rules: &UrlRules, livemode: bool) -> Result<EndpointPatch> {
    let patch = body::read(body, |m| {
        // Chosen by the request that created the endpoint.
        m.not_writable("signature_profile");
        m.not_writable(NOT_WRITABLE);
        api_version(m).optional();
        EndpointPatch {
            url: m.string("url", Text::line(1, 2048)).optional(),
            enabled_events: event_filters(m, "enabled_events").optional(),
            max_in_flight: m.integer("max_in_flight", 1..=IN_FLIGHT_MAX).or_null(),
            description: m.string("description", Text::LINE).or_null(),
            status: m.one_of("status").optional(),
            headers: headers::read(m),
            client_certificate: client_certificate::read(m),
            timeout_ms: timeout_ms(m).or_null(),
            retry_schedule: m.one_of("retry_schedule").optional(),
            metadata: m.metadata_patch("metadata").optional(),
        }
    })?;
    let url = patch.url.as_deref().map(|url| allowed(url, rules, livemode)).transpose()?;
    Ok(EndpointPatch { url, ..patch })
}

/// Reads the body of the operator's `PATCH /webhook-endpoints/:id`.
///
/// # Errors
/// 422 with every wrong member.
pub fn read_endpoint_limits(body: &Value) -> Result<EndpointPatch> {
    body::read(body, |m| EndpointPatch {
        max_in_flight: m.integer("max_in_flight", 1..=IN_FLIGHT_MAX).or_null(),
        ..EndpointPatch::default()
    })
}

/// How a secret is to be rotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RotationRequest {
    /// How long the present secret stays valid, in seconds; 0 retires it at once.
    pub overlap_s: i64,
    /// Ends an overlap that is open.
    pub force: bool,
}

impl RotationRequest {
    /// Reads the body of `POST /webhook-endpoints/:id/rotate-secret`; an empty one takes the defaults.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| Self {
            overlap_s: m.integer("overlap_seconds", 0..=OVERLAP_MAX_S).or(OVERLAP_DEFAULT_S),
            force: m.boolean("force").or(false),
        })
    }
}

/// A test event to be sent.
#[derive(Clone, Debug)]
pub struct EndpointTestRequest {
    /// Goes into the event.
    pub message: Option<String>,
}

impl EndpointTestRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| Self { message: m.string("message", Text::line(1, 200)).optional() })
    }
}
