//! The refusal of a URL that events cannot be sent to: which rule of contract 7.6 it breaks.

use crate::endpoint::url::{UrlRefusal, UrlRules};
use crate::error_code::ErrorCode;
use crate::refusal::{MemberCode, MemberError, Refusal, Result};

/// The URL in its normalised form, when events may be sent there.
pub(crate) fn allowed(url: &str, rules: &UrlRules, livemode: bool) -> Result<String> {
    rules.parse(url, livemode).map(|target| target.as_str().to_owned()).map_err(forbidden)
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
    url_refused(code, &refusal.to_string())
}

/// The host of the URL leads to an address that events are not sent to (contract 7.6 rule 4).
#[must_use]
pub fn url_address_blocked() -> Refusal {
    url_refused(MemberCode::UrlAddressBlocked, "the host leads to an address that events are not sent to")
}

fn url_refused(code: MemberCode, detail: &str) -> Refusal {
    let members = vec![MemberError::new("/url", code, detail)];
    Refusal::new(ErrorCode::EndpointUrlForbidden, "Events cannot be sent to this URL.").members(members)
}
