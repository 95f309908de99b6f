//! The TLS settings of deliveries: TLS 1.2 or newer, certificates verified, no client certificate (contract 7.1).
//!
//! The trusted roots are those of the Mozilla programme built into the binary, those of the operating system, and
//! those of one PEM file that an operator may add for a private authority.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use super::client::DeliveryClientError;

/// The TLS settings of all deliveries. `extra_roots_pem` is the text of a PEM file with certificates.
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
