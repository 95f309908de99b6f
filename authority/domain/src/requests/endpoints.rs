//! `POST /webhook-endpoints` and `POST /webhook-endpoints/:id/test` (contract 4.10).

use serde_json::Value;
use verify_core::catalog::API_VERSION;

use crate::endpoint::{DisabledReason, Endpoint, EndpointStatus, Health, HealthState, is_filter};
use crate::endpoint_url::{UrlRefusal, UrlRules};
use crate::error_code::ErrorCode;
use crate::id::EndpointId;
use crate::members::{self, Text};
use crate::parts::Metadata;
use crate::refusal::{MemberCode, MemberError, Refusal};
use crate::time::Timestamp;

/// An endpoint to be made.
#[derive(Clone, Debug)]
pub struct EndpointRequest {
    url: String,
    enabled_events: Vec<String>,
    description: Option<String>,
    status: EndpointStatus,
    metadata: Metadata,
}

impl EndpointRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member; `endpoint_url_forbidden` when all are well-formed and the URL breaks contract 7.6.
    pub fn read(body: &Value, rules: &UrlRules, livemode: bool) -> Result<Self, Refusal> {
        let request = members::read(body, |m| {
            m.not_writable(&["id", "secret", "secret_hint", "health", "disabled_reason", "livemode"]);
            m.parsed("api_version", Text::LINE, "a supported version", (), |text| {
                (text == API_VERSION).then_some(())
            })
            .optional();
            let mut enabled_events = m
                .list("enabled_events", 1..=64, |value| {
                    let filter = Text::line(1, 128).check(value)?;
                    if is_filter(&filter) {
                        Ok(filter)
                    } else {
                        Err((MemberCode::InvalidValue, "must be *, an event type or <category>.*".to_owned()))
                    }
                })
                .or(vec!["*".to_owned()]);
            enabled_events.sort();
            enabled_events.dedup();
            Self {
                url: m.string("url", Text::line(1, 2048)).required(),
                enabled_events,
                description: m.string("description", Text::LINE).optional(),
                status: m.one_of("status").or(EndpointStatus::Enabled),
                metadata: m.metadata("metadata").or(Metadata::new()),
            }
        })?;
        let target = rules.parse(&request.url, livemode).map_err(forbidden)?;
        Ok(Self { url: target.as_str().to_owned(), ..request })
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
            status: self.status,
            disabled_reason: disabled.then_some(DisabledReason::Merchant),
            disabled_at: disabled.then_some(now),
            api_version: API_VERSION.to_owned(),
            secret_hint,
            previous_secret_expires_at: None,
            secret_rotated_at: None,
            health: Health {
                state: HealthState::Unknown,
                consecutive_failures: 0,
                last_success_at: None,
                last_failure_at: None,
                last_response_status: None,
                last_error: None,
            },
            metadata: self.metadata,
            resource_version: 1,
            livemode,
            created_at: now,
            updated_at: now,
        }
    }
}

/// Says which rule of contract 7.6 the URL breaks.
fn forbidden(refusal: UrlRefusal) -> Refusal {
    let code = match refusal {
        UrlRefusal::TooLong => MemberCode::TooLong,
        UrlRefusal::Malformed | UrlRefusal::NotAbsolute => MemberCode::InvalidUrl,
        UrlRefusal::SchemeNotHttps => MemberCode::UrlScheme,
        UrlRefusal::Userinfo => MemberCode::UrlUserinfo,
        UrlRefusal::Fragment => MemberCode::UrlFragment,
        UrlRefusal::IpLiteral | UrlRefusal::HostInvalid => MemberCode::UrlHost,
        UrlRefusal::HostNotPublic | UrlRefusal::HostDenied => MemberCode::UrlHostDenied,
        UrlRefusal::PortForbidden => MemberCode::UrlPort,
    };
    let member = MemberError { pointer: "/url".to_owned(), code, detail: refusal.to_string() };
    Refusal::new(ErrorCode::EndpointUrlForbidden, "Events cannot be sent to this URL.").members(vec![member])
}

/// A test event to be sent.
#[derive(Clone, Debug)]
pub struct EndpointTestRequest {
    /// Goes into the event.
    pub message: Option<String>,
}

impl EndpointTestRequest {
    /// Reads the body; no body is an empty one.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: Option<&Value>) -> Result<Self, Refusal> {
        let Some(body) = body else { return Ok(Self { message: None }) };
        members::read(body, |m| Self { message: m.string("message", Text::line(1, 200)).optional() })
    }
}
