//! The TLS settings of deliveries (contract 7.1): TLS 1.2 or newer, certificates verified, and a client certificate
//! where the endpoint has one and the receiver asks for it.
//!
//! The trusted roots are those of the Mozilla programme built into the binary, those of the operating system, and
//! those of one PEM file that an operator may add for a private authority.

use std::sync::Arc;
use std::task::{Context, Poll};

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::rt::TokioIo;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tower_service::Service;

use super::client::DeliveryClientError;
use super::connector::{BoxError, BoxFuture, CheckedConnector};
use super::pool::Origin;

/// The TLS settings of all deliveries, without a client certificate. `extra_roots_pem` is the text of a PEM file with
/// certificates.
pub(crate) fn client_config(extra_roots_pem: Option<&[u8]>) -> Result<ClientConfig, DeliveryClientError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| DeliveryClientError::Tls)?
        .with_root_certificates(roots(extra_roots_pem)?)
        .with_no_client_auth();
    Ok(config)
}

/// How many certification authorities deliveries trust: those built in, and those of the operating system.
pub(crate) fn root_count() -> (usize, usize) {
    let mut system = RootCertStore::empty();
    let (readable, _) = system.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    (webpki_roots::TLS_SERVER_ROOTS.len(), readable)
}

fn roots(extra_roots_pem: Option<&[u8]>) -> Result<RootCertStore, DeliveryClientError> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let native = rustls_native_certs::load_native_certs();
    for error in &native.errors {
        tracing::warn!(%error, "some of the operating system's root certificates cannot be read");
    }
    // System stores may hold a certificate that rustls cannot read; that must not prevent the start.
    let _ = roots.add_parsable_certificates(native.certs);
    if let Some(pem) = extra_roots_pem {
        let mut added = 0_usize;
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|_| DeliveryClientError::ExtraRoots)?;
            roots.add(certificate).map_err(|_| DeliveryClientError::ExtraRoots)?;
            added += 1;
        }
        if added == 0 {
            return Err(DeliveryClientError::ExtraRoots);
        }
    }
    Ok(roots)
}

/// Connects, and speaks TLS as the identity that the origin names.
#[derive(Clone)]
pub(super) struct TlsConnector {
    tls: ClientConfig,
    https_only: bool,
    inner: CheckedConnector,
    as_nobody: HttpsConnector<CheckedConnector>,
}

impl TlsConnector {
    pub(super) fn new(tls: ClientConfig, https_only: bool, inner: CheckedConnector) -> Self {
        let as_nobody = https(tls.clone(), https_only, inner.clone());
        Self { tls, https_only, inner, as_nobody }
    }
}

fn https(tls: ClientConfig, https_only: bool, inner: CheckedConnector) -> HttpsConnector<CheckedConnector> {
    let builder = HttpsConnectorBuilder::new().with_tls_config(tls);
    let builder = if https_only { builder.https_only() } else { builder.https_or_http() };
    builder.enable_all_versions().wrap_connector(inner)
}

impl Service<Origin> for TlsConnector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = BoxError;
    type Future = BoxFuture<Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.as_nobody.poll_ready(cx)
    }

    fn call(&mut self, origin: Origin) -> Self::Future {
        match origin.identity() {
            None => self.as_nobody.call(origin.uri()),
            Some(identity) => {
                https(identity.tls(&self.tls), self.https_only, self.inner.clone()).call(origin.uri())
            }
        }
    }
}
