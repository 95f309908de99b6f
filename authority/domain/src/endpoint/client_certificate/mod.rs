//! The client certificate that an endpoint's deliveries show to a receiver that asks for one in the TLS handshake
//! (contract 4.10).
//!
//! The private key is a secret, and the chain is kept with it. Both are written and never shown: the endpoint's record
//! has the leaf's fingerprint and expiry alone, `Debug` shows neither, and no error repeats a value. The caller seals
//! [`NewClientCertificate::to_text`] before it is stored.
//!
//! This module reads shapes and lengths. Deliberately absent: PEM, X.509 and keys. The caller finds out what the texts
//! hold, and tells it by [`NewClientCertificate::inspected`].

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use zeroize::{Zeroize as _, Zeroizing};

use crate::body::{Checked, Members, shape, text_of, wrong};
use crate::refusal::MemberCode;
use crate::time::Timestamp;

/// The most bytes of the chain and the private key together.
pub const TOGETHER_MAX: usize = 16 * 1024;

/// The most certificates of a chain.
pub const CHAIN_MAX: usize = 8;

/// What the endpoint's record says of its client certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("fingerprint_sha256": Pattern("^[0-9a-f]{64}$")))
)]
pub struct ClientCertificate {
    /// SHA-256 of the certificate (the leaf's DER), 64 hexadecimal digits in lower case.
    pub fingerprint_sha256: String,
    /// Until when the certificate is valid.
    pub expires_at: Timestamp,
}

/// A client certificate as it was written: the chain and its private key. Overwritten with zeros when dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct NewClientCertificate {
    certificate: String,
    private_key: String,
    shown: Option<ClientCertificate>,
}

/// The form in which a client certificate is sealed.
#[derive(Serialize, Deserialize)]
struct SealedForm<'a> {
    certificate: Cow<'a, str>,
    private_key: Cow<'a, str>,
}

impl NewClientCertificate {
    /// The chain in PEM, the leaf first.
    #[must_use]
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// The private key in PEM.
    #[must_use]
    pub fn private_key(&self) -> &str {
        &self.private_key
    }

    /// The same, with what the caller has found in it: that is what the record shows. Without it the record shows none.
    #[must_use]
    pub fn inspected(mut self, shown: ClientCertificate) -> Self {
        self.shown = Some(shown);
        self
    }

    /// What the record shows of it.
    #[must_use]
    pub fn shown(&self) -> Option<ClientCertificate> {
        self.shown.clone()
    }

    /// The text that is sealed; [`NewClientCertificate::of_text`] reads it.
    ///
    /// # Errors
    /// Never in practice: texts can always be written as JSON.
    pub fn to_text(&self) -> Result<Zeroizing<String>, serde_json::Error> {
        let form = SealedForm {
            certificate: self.certificate.as_str().into(),
            private_key: self.private_key.as_str().into(),
        };
        serde_json::to_string(&form).map(Zeroizing::new)
    }

    /// Reads what [`NewClientCertificate::to_text`] wrote; `None` for anything else.
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        let SealedForm { certificate, private_key } = serde_json::from_str(text).ok()?;
        Some(Self { certificate: certificate.into(), private_key: private_key.into(), shown: None })
    }
}

impl Drop for NewClientCertificate {
    fn drop(&mut self) {
        self.certificate.zeroize();
        self.private_key.zeroize();
    }
}

impl fmt::Debug for NewClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewClientCertificate({:?}, certificate and key redacted)", self.shown)
    }
}

/// The member `client_certificate`: `None` when it is absent, `Some(None)` for null. No error repeats a value.
pub(super) fn read(m: &mut Members<'_>) -> Option<Option<NewClientCertificate>> {
    let object = m.object("client_certificate", |m| NewClientCertificate {
        certificate: m.field("certificate", String::new(), pem).required(),
        private_key: m.field("private_key", String::new(), pem).required(),
        shown: None,
    });
    let written = object.or_null()?;
    let together = written.as_ref().map_or(0, |new| new.certificate.len() + new.private_key.len());
    if together > TOGETHER_MAX {
        let detail = format!("Certificates and key must have at most {TOGETHER_MAX} bytes together.");
        m.refuse("client_certificate", MemberCode::TooLong, detail);
    }
    Some(written)
}

/// A text in PEM; what it holds is not looked at.
fn pem(value: &Value) -> Checked<String> {
    shape::rule(|| json!({ "type": "string", "minLength": 1, "maxLength": TOGETHER_MAX }));
    match text_of(value)? {
        "" => wrong(MemberCode::TooShort, "Must have at least 1 character."),
        text if text.len() <= TOGETHER_MAX => Ok(text.to_owned()),
        _ => wrong(MemberCode::TooLong, format!("Must have at most {TOGETHER_MAX} bytes.")),
    }
}

#[cfg(test)]
mod tests;
