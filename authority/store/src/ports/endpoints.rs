//! Webhook endpoints with their sealed signing secrets, request headers and client certificates. Only the operator
//! can see a deleted endpoint: every function that takes a tenant skips it.

use async_trait::async_trait;
use authority_domain::delivery::retry::RetrySchedule;
use authority_domain::endpoint::{Endpoint, SignatureProfile};
use authority_domain::id::EndpointId;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::{Bounds, SealedOption};
use crate::StoreError;

/// A signing secret as it is stored: sealed under the key-encryption key, bound to its endpoint and version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedSecret {
    /// Counts the endpoint's secrets from 1.
    pub version: i64,
    /// Ciphertext.
    pub sealed: Vec<u8>,
    /// When it stops signing; `None` for the newest.
    pub expires_at: Option<Timestamp>,
}

/// What an endpoint asks of its deliveries (contract 4.10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryOptions {
    /// The headers that go with them beside the service's own: ciphertext, bound to the endpoint; `None` for none.
    pub headers_sealed: Option<Vec<u8>>,
    /// The client certificate that they show to a receiver that asks for one: ciphertext, bound to the endpoint; `None`
    /// for none.
    pub client_certificate_sealed: Option<Vec<u8>>,
    /// The deadline of an attempt in milliseconds; `None` for the deployment's.
    pub timeout_ms: Option<i64>,
    /// How long they are tried again.
    pub retry_schedule: RetrySchedule,
}

/// An endpoint that may want an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscriber {
    /// Its id.
    pub endpoint_id: EndpointId,
    /// Its event filters.
    pub enabled_events: Vec<String>,
    /// Its owner: the event's tenant, or the operator.
    pub owner: Tenant,
    /// What this instance needs to send to it at once, if it may.
    pub reach: Option<DispatchTarget>,
}

/// How an endpoint is reached, and how much more it may get now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct DispatchTarget {
    pub url: String,
    pub api_version: String,
    pub signature_profile: SignatureProfile,
    pub options: DeliveryOptions,
    /// The usable secrets, newest first.
    pub secrets: Vec<SealedSecret>,
    /// How many requests it may have in flight.
    pub bounds: Bounds,
    /// Where a hold or its health bounds it, the requests it may have beside those of all instances
    /// ([`authority_domain::endpoint::hold::cap`]). 0 while a due delivery that nobody holds is pending, because that
    /// delivery goes first.
    pub room: i64,
    /// It is held back: no request begins for some time.
    pub held_back: bool,
    /// It is held back, and no probe is under way.
    pub probes: bool,
}

/// Endpoints.
#[async_trait]
pub trait Endpoints {
    /// Adds an endpoint and its first secret.
    async fn endpoint_insert(
        &mut self,
        tenant: &Tenant,
        endpoint: &Endpoint,
        secret: &SealedSecret,
    ) -> Result<(), StoreError>;

    /// One endpoint.
    async fn endpoint_get(
        &mut self,
        tenant: &Tenant,
        id: &EndpointId,
    ) -> Result<Option<Endpoint>, StoreError>;

    /// How many endpoints the tenant has.
    async fn endpoint_count(&mut self, tenant: &Tenant) -> Result<i64, StoreError>;

    /// Up to `limit` endpoints before `before` (newest first), with their positions. A non-empty `status` filters.
    async fn endpoints_page(
        &mut self,
        tenant: &Tenant,
        status: &[String],
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, Endpoint)>, StoreError>;

    /// The enabled endpoints of the tenant and of the platform: the recipients of an event that commits now (contract
    /// 7.8).
    async fn endpoints_enabled(&mut self, tenant: &Tenant) -> Result<Vec<Subscriber>, StoreError>;

    /// Any stored secret, to check whether the key-encryption key fits this database.
    async fn secret_sample(&mut self) -> Result<Option<(EndpointId, SealedSecret)>, StoreError>;

    /// Writes the next version of an endpoint.
    async fn endpoint_update(&mut self, tenant: &Tenant, endpoint: &Endpoint) -> Result<(), StoreError>;

    /// Replaces what is sealed of an endpoint's options; `None` removes it. The record has what is shown of it.
    async fn endpoint_sealed_put(
        &mut self,
        tenant: &Tenant,
        id: &EndpointId,
        option: SealedOption,
        sealed: Option<&[u8]>,
    ) -> Result<(), StoreError>;

    /// Hides version `version` of an endpoint from its merchant for ever, and deletes its secrets and headers.
    async fn endpoint_delete(
        &mut self,
        tenant: &Tenant,
        id: &EndpointId,
        version: i64,
        now: Timestamp,
    ) -> Result<(), StoreError>;
}
