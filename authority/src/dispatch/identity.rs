//! Whom a connection is made as (contract 4.10, 7.1): the client certificate of an endpoint, opened.
//!
//! A connection made as one identity never serves a request of another or of none: the pool tells origins apart by it,
//! and each identity has TLS sessions of its own to resume. What was sealed is opened once and kept for the attempts
//! that follow, as long as the endpoint has exactly that.

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use authority_domain::EndpointId;
use authority_domain::endpoint::client_certificate::NewClientCertificate;
use authority_store::hand_off::LeasedDelivery;
use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::sign::SingleCertAndKey;

use super::signing::UnusableSecret;
use crate::client_certificate::read;
use crate::secret_box::{SecretBox, SecretContext};

/// The most identities that are kept open.
const OPENED_MAX: usize = 1024;

/// The TLS sessions that an identity remembers: an endpoint has one receiver.
const SESSIONS_MAX: usize = 8;

/// A client certificate with its key, and the TLS sessions that were made with it. Each one is only itself: another
/// that was made of the same certificate differs.
pub struct ClientIdentity {
    number: u64,
    certificate: Arc<SingleCertAndKey>,
    sessions: Resumption,
}

impl ClientIdentity {
    /// An identity of a chain, the leaf first, and its private key, both in PEM; `None` where they cannot be used
    /// (contract 4.10).
    pub fn of_pem(certificate: &str, private_key: &str) -> Option<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let pair = read(certificate, private_key).ok()?;
        Some(Self {
            number: MADE.fetch_add(1, Ordering::Relaxed),
            certificate: Arc::new(SingleCertAndKey::from(pair.key)),
            sessions: Resumption::in_memory_sessions(SESSIONS_MAX),
        })
    }

    /// The TLS settings of a connection that is made as this identity; all else is as in `base`.
    pub(super) fn tls(&self, base: &ClientConfig) -> ClientConfig {
        let mut tls = base.clone();
        tls.client_auth_cert_resolver = Arc::<SingleCertAndKey>::clone(&self.certificate);
        tls.resumption = self.sessions.clone();
        tls
    }
}

impl PartialEq for ClientIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for ClientIdentity {}

impl Hash for ClientIdentity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl fmt::Debug for ClientIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientIdentity({})", self.number)
    }
}

/// The identities of endpoints that were opened.
#[derive(Default)]
pub(super) struct Identities(Mutex<Opened>);

#[derive(Default)]
struct Opened {
    by_endpoint: HashMap<EndpointId, OpenedIdentity>,
    uses: u64,
}

struct OpenedIdentity {
    /// What it was opened from.
    sealed: Vec<u8>,
    identity: Arc<ClientIdentity>,
    /// Later uses have higher numbers.
    used: u64,
}

impl Opened {
    /// The identity of the endpoint, if it was opened from exactly this.
    fn get(&mut self, endpoint: &EndpointId, sealed: &[u8]) -> Option<Arc<ClientIdentity>> {
        self.uses += 1;
        let found = self.by_endpoint.get_mut(endpoint).filter(|found| found.sealed == sealed)?;
        found.used = self.uses;
        Some(Arc::clone(&found.identity))
    }

    fn put(&mut self, endpoint: &EndpointId, sealed: &[u8], identity: &Arc<ClientIdentity>) {
        if self.by_endpoint.len() >= OPENED_MAX && !self.by_endpoint.contains_key(endpoint) {
            let oldest = self.by_endpoint.iter().min_by_key(|(_, opened)| opened.used);
            if let Some(oldest) = oldest.map(|(endpoint, _)| endpoint.clone()) {
                self.by_endpoint.remove(&oldest);
            }
        }
        let opened =
            OpenedIdentity { sealed: sealed.to_vec(), identity: Arc::clone(identity), used: self.uses };
        self.by_endpoint.insert(endpoint.clone(), opened);
    }
}

impl Identities {
    /// As whom this delivery is sent; `None` for nobody.
    ///
    /// # Errors
    /// [`UnusableSecret`] when what is sealed cannot be opened, or is no client certificate.
    pub(super) fn of(
        &self,
        delivery: &LeasedDelivery,
        secrets: &SecretBox,
    ) -> Result<Option<Arc<ClientIdentity>>, UnusableSecret> {
        let endpoint = &delivery.endpoint_id;
        let Some(sealed) = &delivery.options.client_certificate_sealed else { return Ok(None) };
        if let Some(identity) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(endpoint, sealed) {
            return Ok(Some(identity));
        }
        let context = SecretContext::ClientCertificate { endpoint_id: endpoint.as_str() };
        let text = secrets.open(context, sealed).map_err(|_| UnusableSecret)?;
        let pem = NewClientCertificate::of_text(&text).ok_or(UnusableSecret)?;
        let identity = ClientIdentity::of_pem(pem.certificate(), pem.private_key()).ok_or(UnusableSecret)?;
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Another attempt may have opened it meanwhile: one identity, one set of connections.
        if let Some(identity) = opened.get(endpoint, sealed) {
            return Ok(Some(identity));
        }
        let identity = Arc::new(identity);
        opened.put(endpoint, sealed, &identity);
        Ok(Some(identity))
    }
}
