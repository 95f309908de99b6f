//! Webhook endpoints: where events go, how fast, and how attempts change an endpoint (contract 2.8, 4.10, 7).

pub mod address_policy;
pub mod alerts;
pub mod changes;
pub mod client_certificate;
pub mod condition;
mod forbidden_url;
pub mod headers;
mod health;
pub mod hold;
pub mod in_flight_limit;
mod owner;
pub mod private_receivers;
mod record;
mod requests;
pub mod url;

pub use forbidden_url::url_address_blocked;
pub use health::{DEGRADED_AFTER, FAILING_AFTER, FAILING_AFTER_MS, Health, HealthState};
pub use record::{
    DisabledReason, Endpoint, EndpointStatus, SignatureProfile, TIMEOUT_MAX_MS, TIMEOUT_MIN_MS, is_filter,
    matches_filter,
};
pub(crate) use requests::event_filters;
pub use requests::{
    EndpointRequest, EndpointTestRequest, RotationRequest, read_endpoint_limits, read_endpoint_patch,
};
