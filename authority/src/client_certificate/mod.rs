//! Reads a client certificate (contract 4.10): a chain and its private key, both in PEM.
//!
//! The same rules hold when a merchant sets one and when a delivery shows it: what was accepted can be shown. Whether
//! it has expired is for the caller to judge, by [`Pair::shown`]. No fault repeats a value.

use authority_domain::endpoint::client_certificate::{CHAIN_MAX, ClientCertificate};
use authority_domain::refusal::MemberError;
use authority_domain::{MemberCode, Refusal, Timestamp};
use rustls::pki_types::pem::{PemObject as _, SectionKind};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error as TlsError, InconsistentKeys};
use sha2::{Digest as _, Sha256};
use x509_parser::parse_x509_certificate;
use zeroize::Zeroize as _;

/// A chain with the key of its first certificate.
pub(crate) struct Pair {
    /// Ready to be used in a handshake.
    pub(crate) key: CertifiedKey,
    /// What people are shown of it.
    pub(crate) shown: ClientCertificate,
}

/// Why a client certificate is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The first text has no certificate, or something that is none.
    NotCertificates,
    TooManyCertificates,
    /// A certificate is no X.509.
    Malformed,
    /// The second text has no private key, or more than one, or something that is none.
    NotOneKey,
    /// A key that no handshake is made with.
    UnsupportedKey,
    /// The key is that of another certificate.
    OtherKey,
    /// The first certificate has expired.
    Expired,
}

impl Fault {
    /// The error of the member that is wrong.
    fn member(self) -> MemberError {
        let (name, code, detail) = match self {
            Self::NotCertificates => (
                "certificate",
                MemberCode::InvalidValue,
                "Must be certificates in PEM and nothing else, the endpoint's own first.",
            ),
            Self::TooManyCertificates => {
                let detail = format!("Must be at most {CHAIN_MAX} certificates.");
                return member("certificate", MemberCode::TooLong, detail);
            }
            Self::Malformed => (
                "certificate",
                MemberCode::InvalidValue,
                "A certificate cannot be read; X.509 version 3 is used.",
            ),
            Self::NotOneKey => (
                "private_key",
                MemberCode::InvalidValue,
                "Must be one private key in PEM, not encrypted: PKCS#8, SEC1 or PKCS#1.",
            ),
            Self::UnsupportedKey => (
                "private_key",
                MemberCode::InvalidValue,
                "Must be a key for RSA with 2048 to 4096 bits, for ECDSA on P-256 or P-384, or for Ed25519.",
            ),
            Self::OtherKey => {
                ("private_key", MemberCode::InvalidValue, "Must be the key of the first certificate.")
            }
            Self::Expired => ("certificate", MemberCode::InvalidValue, "The first certificate has expired."),
        };
        member(name, code, detail.to_owned())
    }
}

fn member(name: &str, code: MemberCode, detail: String) -> MemberError {
    MemberError { pointer: format!("/client_certificate/{name}"), code, detail }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::of_members(vec![fault.member()])
    }
}

/// Reads a chain, the leaf first, and its private key.
///
/// # Errors
/// [`Fault`], but not [`Fault::Expired`].
pub(crate) fn read(certificate: &str, private_key: &str) -> Result<Pair, Fault> {
    let chain = chain(certificate)?;
    let expires_at = chain.iter().map(expiry).collect::<Result<Vec<_>, _>>()?;
    let (leaf, expires_at) = chain.first().zip(expires_at.first()).ok_or(Fault::NotCertificates)?;
    let fingerprint_sha256 = hex::encode(Sha256::digest(leaf));
    let shown = ClientCertificate { fingerprint_sha256, expires_at: *expires_at };
    let provider = rustls::crypto::ring::default_provider();
    // The provider wipes the key when it has read it.
    let key = provider.key_provider.load_private_key(key(private_key)?);
    let key = CertifiedKey::new(chain, key.map_err(|_| Fault::UnsupportedKey)?);
    match key.keys_match() {
        Ok(()) => Ok(Pair { key, shown }),
        Err(TlsError::InconsistentKeys(InconsistentKeys::Unknown)) => Err(Fault::UnsupportedKey),
        Err(TlsError::InconsistentKeys(_)) => Err(Fault::OtherKey),
        Err(_) => Err(Fault::Malformed),
    }
}

fn chain(pem: &str) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let mut chain = Vec::new();
    for section in <(SectionKind, Vec<u8>)>::pem_slice_iter(pem.as_bytes()) {
        match section {
            Ok((SectionKind::Certificate, der)) => chain.push(CertificateDer::from(der)),
            Ok((_, mut other)) => {
                other.zeroize();
                return Err(Fault::NotCertificates);
            }
            Err(_) => return Err(Fault::NotCertificates),
        }
    }
    match chain.len() {
        0 => Err(Fault::NotCertificates),
        1..=CHAIN_MAX => Ok(chain),
        _ => Err(Fault::TooManyCertificates),
    }
}

fn key(pem: &str) -> Result<PrivateKeyDer<'static>, Fault> {
    let mut found: Option<PrivateKeyDer<'static>> = None;
    for section in <(SectionKind, Vec<u8>)>::pem_slice_iter(pem.as_bytes()) {
        let key = section.ok().and_then(|(kind, der)| PrivateKeyDer::from_pem(kind, der));
        let before = match key {
            Some(key) => found.replace(key),
            None => found.take(),
        };
        if let Some(mut before) = before {
            before.zeroize();
            found.zeroize();
            return Err(Fault::NotOneKey);
        }
        if found.is_none() {
            return Err(Fault::NotOneKey);
        }
    }
    found.ok_or(Fault::NotOneKey)
}

/// The end of a certificate's validity.
fn expiry(certificate: &CertificateDer<'static>) -> Result<Timestamp, Fault> {
    match parse_x509_certificate(certificate) {
        Ok(([], certificate)) => {
            let seconds = certificate.validity().not_after.timestamp();
            seconds.checked_mul(1000).map(Timestamp::from_ms).ok_or(Fault::Malformed)
        }
        _ => Err(Fault::Malformed),
    }
}

#[cfg(test)]
mod tests;
