//! A refusal: the one error value of transitions, use cases and handlers.
//!
//! Code that finds that a request cannot be granted returns a [`Refusal`]. No layer in between changes it, and the
//! HTTP layer writes it as problem details (contract 5.1). It has a code for machines, a sentence for people, and
//! the further facts that the contract promises. The causes of internal faults go to the log, where they are found by
//! the request id, and to the commands, but never into an answer.

use serde_json::Value;

use crate::error_code::ErrorCode;
use crate::text_enum::text_enum;

/// What is granted, or why it is not.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// What clients branch on; decides the status.
    pub code: ErrorCode,
    /// For people. Never holds a secret or another tenant's data.
    pub detail: String,
    /// The wrong members of the body, at most [`Refusal::MEMBER_LIMIT`].
    pub members: Vec<MemberError>,
    /// Further members of the problem, e.g. `current_version`, in this order.
    pub extra: Vec<(&'static str, Value)>,
    /// `Retry-After` in seconds.
    pub retry_after_s: Option<u32>,
    /// The query parameter or header that is wrong.
    pub param: Option<String>,
    /// What failed inside, if something did.
    pub fault: Option<Box<Fault>>,
}

/// A failure inside the service. No answer has any of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What failed, for an operator at the command line, who has no log to look into.
    pub cause: String,
    /// The database failed during the request, so every request that shares its transaction fails too. Every other
    /// refusal, including a 503, concerns its own request alone.
    pub of_storage: bool,
}

impl Refusal {
    /// The most member errors that one answer lists (contract 5.1).
    pub const MEMBER_LIMIT: usize = 50;

    /// A refusal with a code and a sentence for people.
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            members: Vec::new(),
            extra: Vec::new(),
            retry_after_s: None,
            param: None,
            fault: None,
        }
    }

    /// The one answer for a record that is absent, another merchant's, or of the other mode. `what` is a noun
    /// such as `order`; the wording does not depend on which of the three it was.
    #[must_use]
    pub fn not_found(what: &str) -> Self {
        Self::new(ErrorCode::NotFound, format!("There is no such {what}."))
    }

    /// A transition that the state machine does not have, with the two statuses that contract 5.2 promises: the
    /// record's present one, and the one that the request asks for.
    #[must_use]
    pub fn transition(current: &str, requested: &str, detail: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidStateTransition, detail).of_statuses(current, requested)
    }

    /// The report contradicts what is recorded, with the same two statuses.
    pub(crate) fn conflict(current: &str, reported: &str, detail: impl Into<String>) -> Self {
        Self::new(ErrorCode::ProcessorConflict, detail).of_statuses(current, reported)
    }

    fn of_statuses(self, current: &str, requested: &str) -> Self {
        self.with("current_status", current).with("requested_status", requested)
    }

    /// Refuses a sum in another currency than what it is for.
    pub(crate) fn check_currency(of: &str, currency: &str, what: &str, given: &str) -> Result<()> {
        if currency == given {
            return Ok(());
        }
        let detail = format!("The {of} is in {currency}, the {what} in {given}.");
        Err(Self::new(ErrorCode::CurrencyMismatch, detail))
    }

    /// A fault of the service. The cause belongs to the log.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(
            ErrorCode::InternalError,
            "The service failed to handle the request. Nothing was changed unless a retry with the same \
             Idempotency-Key says otherwise.",
        )
    }

    /// The service cannot answer now; the client may try again after `retry_after_s` seconds.
    #[must_use]
    pub fn unavailable(retry_after_s: u32) -> Self {
        Self::new(ErrorCode::ServiceUnavailable, "The service cannot answer right now.")
            .retry_after(retry_after_s)
    }

    /// A body with one wrong member.
    pub fn member(pointer: impl Into<String>, code: MemberCode, detail: impl Into<String>) -> Self {
        Self::of_members(vec![MemberError::new(pointer, code, detail)])
    }

    /// Refuses a body with these wrong members; without any there is nothing to refuse.
    pub(crate) fn check(wrong: Vec<MemberError>) -> Result<()> {
        if wrong.is_empty() { Ok(()) } else { Err(Self::of_members(wrong)) }
    }

    /// A body with wrong members. The code is `field_not_writable` when one of them is that, else `unknown_field`
    /// when one of them is that, else `validation_failed`. Keeps the first [`Refusal::MEMBER_LIMIT`].
    #[must_use]
    pub fn of_members(mut members: Vec<MemberError>) -> Self {
        let has = |code: MemberCode| members.iter().any(|member| member.code == code);
        let (code, detail) = if has(MemberCode::FieldNotWritable) {
            (ErrorCode::FieldNotWritable, "The body names members that this operation cannot write.")
        } else if has(MemberCode::UnknownField) {
            (ErrorCode::UnknownField, "The body has members that this operation does not define.")
        } else {
            (ErrorCode::ValidationFailed, "The body has members with wrong values.")
        };
        members.truncate(Self::MEMBER_LIMIT);
        Self { members, ..Self::new(code, detail) }
    }

    /// The same wrong members, in an object that stands at `pointer` of the body.
    #[must_use]
    pub fn within(mut self, pointer: &str) -> Self {
        for member in &mut self.members {
            member.pointer.insert_str(0, pointer);
        }
        self
    }

    /// Adds a member to the problem.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.extra.push((name, value.into()));
        self
    }

    /// Names the query parameter or header that is wrong.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>) -> Self {
        self.param = Some(name.into());
        self
    }

    /// The wrong members as tests compare them: `pointer code`.
    #[cfg(test)]
    pub(crate) fn told(&self) -> Vec<String> {
        self.members.iter().map(|member| format!("{} {}", member.pointer, member.code)).collect()
    }

    /// Tells the client when to come back, in seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    /// Adds the wrong members without changing the code (e.g. under `endpoint_url_forbidden`).
    #[must_use]
    pub fn members(mut self, members: Vec<MemberError>) -> Self {
        self.members = members;
        self.members.truncate(Self::MEMBER_LIMIT);
        self
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}

impl std::error::Error for Refusal {}

/// One wrong member of a request body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberError {
    /// Where: an RFC 6901 pointer into the body; empty for the body itself.
    pub pointer: String,
    /// What clients may branch on.
    pub code: MemberCode,
    /// For people.
    pub detail: String,
}

impl MemberError {
    /// What is wrong with the member at `pointer`.
    pub fn new(pointer: impl Into<String>, code: MemberCode, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), code, detail: detail.into() }
    }
}

text_enum! {
    /// What is wrong with a member.
    MemberCode {
        /// A required member is absent, or a member is null that may not be.
        Required = "required",
        /// The JSON type is another one.
        WrongType = "wrong_type",
        /// Fewer characters, entries or items than allowed.
        TooShort = "too_short",
        /// More characters, entries or items than allowed.
        TooLong = "too_long",
        /// A control character (contract 1, "Strings").
        ControlCharacter = "control_character",
        /// A number outside its range.
        OutOfRange = "out_of_range",
        /// Not one of the allowed values, or not of the required form.
        InvalidValue = "invalid_value",
        /// Not an RFC 3339 time.
        InvalidTime = "invalid_time",
        /// Not an absolute https URL.
        InvalidUrl = "invalid_url",
        /// Not an ISO 3166-1 alpha-2 code.
        InvalidCountry = "invalid_country",
        /// Not an ISO 4217 code of a currency with a minor unit.
        InvalidCurrency = "invalid_currency",
        /// Names something that does not exist or is not part of the addressed record.
        UnknownReference = "unknown_reference",
        /// The same thing named twice.
        Duplicate = "duplicate",
        /// Contradicts another member or the record.
        Inconsistent = "inconsistent",
        /// A member that the operation does not define.
        UnknownField = "unknown_field",
        /// A member of the record that cannot be written.
        FieldNotWritable = "field_not_writable",
        /// Endpoint URL: another scheme than https (contract 7.6 rule 1).
        UrlScheme = "url_scheme",
        /// Endpoint URL: a port that is not allowed (contract 7.6 rule 1).
        UrlPort = "url_port",
        /// Endpoint URL: host missing, an IP literal or without a dot (contract 7.6 rule 2).
        UrlHost = "url_host",
        /// Endpoint URL: user name or password (contract 7.6 rule 2).
        UrlUserinfo = "url_userinfo",
        /// Endpoint URL: a fragment (contract 7.6 rule 2).
        UrlFragment = "url_fragment",
        /// Endpoint URL: a name that is reserved or denied (contract 7.6 rule 3).
        UrlHostDenied = "url_host_denied",
        /// Endpoint URL: resolves to an address that events are not sent to (contract 7.6 rule 4).
        UrlAddressBlocked = "url_address_blocked",
    }
}

#[cfg(test)]
mod tests {
    use super::{MemberCode, MemberError, Refusal};
    use crate::error_code::ErrorCode;

    fn wrong(code: MemberCode) -> MemberError {
        MemberError { pointer: "/a".into(), code, detail: String::new() }
    }

    #[test]
    fn the_gravest_member_names_the_refusal() {
        let table = [
            (vec![MemberCode::Required], ErrorCode::ValidationFailed),
            (vec![MemberCode::Required, MemberCode::UnknownField], ErrorCode::UnknownField),
            (vec![MemberCode::UnknownField, MemberCode::FieldNotWritable], ErrorCode::FieldNotWritable),
            (vec![MemberCode::FieldNotWritable, MemberCode::UnknownField], ErrorCode::FieldNotWritable),
        ];
        for (members, expected) in table {
            let refusal = Refusal::of_members(members.iter().copied().map(wrong).collect());
            assert_eq!(refusal.code, expected, "{members:?}");
        }
    }

    #[test]
    fn lists_fifty_members_and_judges_by_all() {
        let mut members = vec![wrong(MemberCode::Required); 60];
        members.push(wrong(MemberCode::FieldNotWritable));
        let refusal = Refusal::of_members(members);
        assert_eq!(refusal.members.len(), 50);
        assert_eq!(refusal.code, ErrorCode::FieldNotWritable);
    }
}
