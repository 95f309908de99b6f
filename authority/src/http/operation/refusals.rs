//! The error codes that an operation can answer with (contract 4.2, 5.2): those derived from its declaration, and
//! its own.

use authority_domain::ErrorCode;

use super::{Access, BodyRule, Operation};

/// For every request: problems of the message itself, and of the service.
const ALWAYS: [ErrorCode; 6] = [
    ErrorCode::InvalidRequest,
    ErrorCode::UriTooLong,
    ErrorCode::HeaderFieldsTooLarge,
    ErrorCode::InternalError,
    ErrorCode::NotImplemented,
    ErrorCode::ServiceUnavailable,
];

/// For every request with a credential.
const WITH_CREDENTIAL: [ErrorCode; 6] = [
    ErrorCode::MissingCredential,
    ErrorCode::InvalidApiKey,
    ErrorCode::RateLimited,
    ErrorCode::UnsupportedApiVersion,
    ErrorCode::InvalidParameter,
    ErrorCode::UnknownParameter,
];

/// For a merchant's requests.
const OF_MERCHANTS: [ErrorCode; 2] = [ErrorCode::ExpiredApiKey, ErrorCode::MerchantClosed];

/// For a merchant's writes.
const OF_MERCHANTS_WRITES: [ErrorCode; 2] = [ErrorCode::MerchantSuspended, ErrorCode::IdempotencyKeyRequired];

/// For all writes.
const OF_WRITES: [ErrorCode; 3] =
    [ErrorCode::InvalidIdempotencyKey, ErrorCode::InvalidIfMatch, ErrorCode::IdempotencyKeyReused];

/// For requests whose body is read.
const OF_BODIES: [ErrorCode; 7] = [
    ErrorCode::PayloadTooLarge,
    ErrorCode::UnsupportedMediaType,
    ErrorCode::RequestTimeout,
    ErrorCode::InvalidJson,
    ErrorCode::ValidationFailed,
    ErrorCode::UnknownField,
    ErrorCode::FieldNotWritable,
];

impl Operation {
    /// Every code it can answer with, in the order of the catalogue.
    #[must_use]
    pub fn codes(&self) -> Vec<ErrorCode> {
        ErrorCode::ALL.iter().copied().filter(|code| self.may_answer(*code)).collect()
    }

    /// Whether it can answer with this code.
    #[must_use]
    pub fn may_answer(&self, code: ErrorCode) -> bool {
        ALWAYS.contains(&code)
            || self.refusals.contains(&code)
            || self.by_access(code)
            || self.by_body(code)
            || self.by_conditions(code)
            || (self.path.contains('{') && code == ErrorCode::NotFound)
            || (self.is_list() && code == ErrorCode::InvalidCursor)
    }

    fn by_access(&self, code: ErrorCode) -> bool {
        let writes = self.verb.writes();
        let of_merchant = || {
            WITH_CREDENTIAL.contains(&code)
                || OF_MERCHANTS.contains(&code)
                || (writes && (OF_WRITES.contains(&code) || OF_MERCHANTS_WRITES.contains(&code)))
        };
        match self.access {
            Access::Everybody => false,
            Access::Merchant(_) => of_merchant() || code == ErrorCode::InsufficientScope,
            Access::TestKey => of_merchant() || code == ErrorCode::TestModeOnly,
            Access::Operator(_) => {
                WITH_CREDENTIAL.contains(&code)
                    || code == ErrorCode::InsufficientScope
                    || (writes && OF_WRITES.contains(&code))
            }
        }
    }

    fn by_body(&self, code: ErrorCode) -> bool {
        let required = self.body_rule() == BodyRule::Required;
        self.body.is_some() && (OF_BODIES.contains(&code) || (required && code == ErrorCode::BodyRequired))
    }

    fn by_conditions(&self, code: ErrorCode) -> bool {
        // A merchant's setting does not apply to the operator.
        let strict = matches!(self.access, Access::Merchant(_));
        self.if_match.is_some()
            && (code == ErrorCode::ResourceVersionConflict
                || (strict && code == ErrorCode::PreconditionRequired))
    }
}
