//! The closed catalogue of reasons for which a request can be refused (contract 5.2).
//!
//! A client branches on [`ErrorCode::as_str`] and on nothing else; the status is decided here, once. The codes of
//! webhook verification are another set and live in `verify_core::code`; `invalid_json` is in both with the same
//! meaning. Codes that the contract names outside its table carry their section at the variant.

/// Declares the catalogue from one table: meaning, variant, code, status, title.
macro_rules! catalogue {
    ($($(#[doc = $doc:literal])* $variant:ident => $code:literal, $status:literal, $title:literal;)+) => {
        /// What a request was refused for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $($(#[doc = $doc])* $variant,)+ }

        impl ErrorCode {
            /// Every code, in the order of the catalogue.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The code as clients see it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)+ }
            }

            /// The HTTP status that goes with the code.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)+ }
            }

            /// The fixed title of the problem (contract 5.1).
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }

            /// When the code is answered, for people who read types.
            #[cfg(feature = "schema")]
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),*).trim(),)+ }
            }
        }
    };
}

catalogue! {
    /// The body is not valid UTF-8 JSON, has duplicate members, or is nested deeper than 64.
    InvalidJson => "invalid_json", 400, "Invalid JSON";
    /// A query parameter has a bad value or is repeated.
    InvalidParameter => "invalid_parameter", 400, "Invalid parameter";
    /// A query parameter that this operation does not define.
    UnknownParameter => "unknown_parameter", 400, "Unknown parameter";
    /// A cursor that is malformed, altered, or of another merchant, mode, list or filter.
    InvalidCursor => "invalid_cursor", 400, "Invalid cursor";
    /// `Idempotency-Key` breaks its syntax.
    InvalidIdempotencyKey => "invalid_idempotency_key", 400, "Invalid idempotency key";
    /// Strict mode: a mutation without `Idempotency-Key`.
    IdempotencyKeyRequired => "idempotency_key_required", 400, "Idempotency key required";
    /// `If-Match` breaks its syntax.
    InvalidIfMatch => "invalid_if_match", 400, "Invalid If-Match";
    /// `Service-Version` names no known version.
    UnsupportedApiVersion => "unsupported_api_version", 400, "Unsupported API version";
    /// No body on an operation that needs one.
    BodyRequired => "body_required", 400, "Body required";
    /// The HTTP message itself is ambiguous or broken (transport; RFC 9112 section 6.3).
    InvalidRequest => "invalid_request", 400, "Invalid request";
    /// No `Authorization`.
    MissingCredential => "missing_credential", 401, "Missing credential";
    /// The credential is not Bearer, malformed, unknown, revoked, or of the other root.
    InvalidApiKey => "invalid_api_key", 401, "Invalid API key";
    /// The key is past its `expires_at`.
    ExpiredApiKey => "expired_api_key", 401, "Expired API key";
    /// The key lacks every scope of which the operation needs one.
    InsufficientScope => "insufficient_scope", 403, "Insufficient scope";
    /// The merchant is suspended and may not write.
    MerchantSuspended => "merchant_suspended", 403, "Merchant suspended";
    /// The merchant is closed.
    MerchantClosed => "merchant_closed", 403, "Merchant closed";
    /// A live key on the sandbox root (contract 6.3).
    TestModeOnly => "test_mode_only", 403, "Test mode only";
    /// The record is absent, of another merchant, or of the other mode: no difference visible.
    NotFound => "not_found", 404, "Not found";
    /// No such route.
    RouteNotFound => "route_not_found", 404, "Route not found";
    /// The route exists, the method does not.
    MethodNotAllowed => "method_not_allowed", 405, "Method not allowed";
    /// The request did not arrive within its deadline (transport; RFC 9110 section 15.5.9).
    RequestTimeout => "request_timeout", 408, "Request timeout";
    /// `If-Match` names another version than the current one.
    ResourceVersionConflict => "resource_version_conflict", 409, "Resource version conflict";
    /// A request with the same key is still running.
    IdempotencyKeyInUse => "idempotency_key_in_use", 409, "Idempotency key in use";
    /// The state machine knows no such transition.
    InvalidStateTransition => "invalid_state_transition", 409, "Invalid state transition";
    /// The order cannot be fulfilled in its state.
    OrderNotFulfillable => "order_not_fulfillable", 409, "Order not fulfillable";
    /// No captured payment with something refundable.
    OrderNotRefundable => "order_not_refundable", 409, "Order not refundable";
    /// Every shippable quantity is already in a shipment.
    NothingToShip => "nothing_to_ship", 409, "Nothing to ship";
    /// Same carrier and tracking number on this order.
    ShipmentExists => "shipment_exists", 409, "Shipment exists";
    /// The endpoint is disabled.
    EndpointDisabled => "endpoint_disabled", 409, "Endpoint disabled";
    /// The merchant and mode have as many endpoints as they may.
    EndpointLimitReached => "endpoint_limit_reached", 409, "Endpoint limit reached";
    /// No endpoint matches the event.
    NoEligibleEndpoint => "no_eligible_endpoint", 409, "No eligible endpoint";
    /// The overlap of an earlier rotation is still open.
    RotationInProgress => "rotation_in_progress", 409, "Rotation in progress";
    /// The checkpoint would move backwards.
    CheckpointRegression => "checkpoint_regression", 409, "Checkpoint regression";
    /// The merchant and mode have as many checkpoints as they may.
    CheckpointLimitReached => "checkpoint_limit_reached", 409, "Checkpoint limit reached";
    /// Another order holds this external reference.
    ExternalReferenceConflict => "external_reference_conflict", 409, "External reference conflict";
    /// The two merchants are already connected.
    ConnectionExists => "connection_exists", 409, "Connection exists";
    /// The partner connection is not active.
    ConnectionNotActive => "connection_not_active", 409, "Connection not active";
    /// The order is already shared on this connection.
    ShareExists => "share_exists", 409, "Share exists";
    /// The merchant is closed: it gets no new keys, orders, checkouts or endpoints (operator root; contract 18.3).
    MerchantEnded => "merchant_closed", 409, "Merchant closed";
    /// A report contradicts what the authority holds (operator root; contract 5.2, 6.2).
    ProcessorConflict => "processor_conflict", 409, "Processor conflict";
    /// The recovery to cancel has ended (contract 15).
    RecoveryFinished => "recovery_finished", 409, "Recovery finished";
    /// The cursor's position is older than the retained history.
    CursorExpired => "cursor_expired", 410, "Cursor expired";
    /// The body is larger than 256 KiB.
    PayloadTooLarge => "payload_too_large", 413, "Payload too large";
    /// The request target is longer than 8 KiB (transport; contract 4.2 row 1).
    UriTooLong => "uri_too_long", 414, "URI too long";
    /// Not `application/json`, another charset than UTF-8, or any `Content-Encoding`.
    UnsupportedMediaType => "unsupported_media_type", 415, "Unsupported media type";
    /// Members of the body are wrong; all are listed.
    ValidationFailed => "validation_failed", 422, "Validation failed";
    /// The body has members that this operation does not define.
    UnknownField => "unknown_field", 422, "Unknown field";
    /// The body names members of the record that cannot be written.
    FieldNotWritable => "field_not_writable", 422, "Field not writable";
    /// The key was used before for another request.
    IdempotencyKeyReused => "idempotency_key_reused", 422, "Idempotency key reused";
    /// The currency is not the order's.
    CurrencyMismatch => "currency_mismatch", 422, "Currency mismatch";
    /// The amount is above the refundable rest.
    RefundAmountExceeded => "refund_amount_exceeded", 422, "Refund amount exceeded";
    /// Several payments could be meant; one must be named.
    PaymentRequired => "payment_required", 422, "Payment required";
    /// More than what is left of a line.
    QuantityExceeded => "quantity_exceeded", 422, "Quantity exceeded";
    /// The endpoint URL breaks a rule of contract 7.6; `errors[0].code` says which.
    EndpointUrlForbidden => "endpoint_url_forbidden", 422, "Endpoint URL forbidden";
    /// Strict mode: a change without `If-Match`.
    PreconditionRequired => "precondition_required", 428, "Precondition required";
    /// Too many requests.
    RateLimited => "rate_limited", 429, "Rate limited";
    /// The header block is larger than 32 KiB (transport; contract 4.2 row 1).
    HeaderFieldsTooLarge => "request_header_fields_too_large", 431, "Request header fields too large";
    /// A fault of the service; nothing about the cause.
    InternalError => "internal_error", 500, "Internal error";
    /// The message needs a part of HTTP that this service does not have (transport; RFC 9112 section 6.1).
    NotImplemented => "not_implemented", 501, "Not implemented";
    /// Overload, database away, shutting down.
    ServiceUnavailable => "service_unavailable", 503, "Service unavailable";
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::ErrorCode;

    /// Contract 5.2, copied as it stands there: status, then its codes.
    const CONTRACT: &[(u16, &str)] = &[
        (400, "invalid_json invalid_parameter unknown_parameter invalid_cursor invalid_idempotency_key"),
        (400, "idempotency_key_required invalid_if_match unsupported_api_version body_required"),
        (401, "missing_credential invalid_api_key expired_api_key"),
        (403, "insufficient_scope merchant_suspended merchant_closed test_mode_only"),
        (404, "not_found route_not_found"),
        (405, "method_not_allowed"),
        (409, "resource_version_conflict idempotency_key_in_use invalid_state_transition"),
        (409, "order_not_fulfillable order_not_refundable nothing_to_ship shipment_exists"),
        (409, "endpoint_disabled endpoint_limit_reached no_eligible_endpoint rotation_in_progress"),
        (409, "checkpoint_regression checkpoint_limit_reached external_reference_conflict"),
        (409, "connection_exists connection_not_active share_exists processor_conflict recovery_finished"),
        (409, "merchant_closed"),
        (410, "cursor_expired"),
        (413, "payload_too_large"),
        (415, "unsupported_media_type"),
        (422, "validation_failed unknown_field field_not_writable idempotency_key_reused"),
        (422, "currency_mismatch refund_amount_exceeded payment_required quantity_exceeded"),
        (422, "endpoint_url_forbidden"),
        (428, "precondition_required"),
        (429, "rate_limited"),
        (500, "internal_error"),
        (503, "service_unavailable"),
    ];

    /// The statuses of contract 4.2 row 1 and of the transport, which have no row in 5.2.
    const TRANSPORT: &[(u16, &str)] = &[
        (400, "invalid_request"),
        (408, "request_timeout"),
        (414, "uri_too_long"),
        (431, "request_header_fields_too_large"),
        (501, "not_implemented"),
    ];

    #[test]
    fn the_catalogue_is_exactly_the_contract_and_the_transport() {
        let expected: BTreeSet<(u16, &str)> = CONTRACT
            .iter()
            .chain(TRANSPORT)
            .flat_map(|(status, codes)| codes.split(' ').map(|code| (*status, code)))
            .collect();
        let actual: BTreeSet<(u16, &str)> =
            ErrorCode::ALL.iter().map(|code| (code.status(), code.as_str())).collect();
        assert_eq!(actual, expected);
        assert_eq!(ErrorCode::ALL.len(), expected.len());
    }
}
