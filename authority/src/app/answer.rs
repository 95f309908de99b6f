//! The answer of a use case, and how it is stored for a repeated request (contract 2.15, 4.3).

use std::fmt;

use authority_domain::subscription::Subscription;
use authority_domain::{Checkout, Order, Payment, Refund, Refusal, Result, Shipment};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::dice::Dice;
use crate::secret_box::{SealedUnder, SecretBox, SecretBoxError, SecretContext};

/// A successful answer. `Debug` shows no body: it may hold a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status, 2xx.
    pub status: u16,
    /// JSON text.
    pub body: String,
    /// `ETag`: the record's version.
    pub version: Option<i64>,
    /// `Location` of a record that was created.
    pub location: Option<String>,
    /// The record that was written, for the audit log.
    pub resource_id: Option<String>,
    /// The answer repeats an earlier one, to a request with the same idempotency key.
    pub replayed: bool,
    /// The body holds a secret that is shown once: it is stored sealed.
    pub confidential: bool,
    /// The body holds figures that change without a new version: it is always sent, whatever version the reader
    /// has.
    pub volatile: bool,
}

/// A record that has a version.
pub(super) trait Versioned: Serialize {
    /// What names it: its id, or an order's number.
    fn name(&self) -> &str;
    /// Its present version.
    fn version(&self) -> i64;
}

macro_rules! versioned {
    ($($record:ident by $name:ident),*) => {$(
        impl Versioned for $record {
            fn name(&self) -> &str {
                self.$name.as_str()
            }

            fn version(&self) -> i64 {
                self.resource_version
            }
        }
    )*};
}

versioned!(Checkout by id, Order by order_number, Payment by id, Refund by id, Shipment by id, Subscription by id);

/// The stored form in the idempotency record.
#[derive(Serialize, Deserialize)]
struct StoredAnswer {
    status: u16,
    version: Option<i64>,
    location: Option<String>,
    body: Option<String>,
    /// Base64 of the sealed body, instead of `body`.
    sealed: Option<String>,
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("status", &self.status)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl Answer {
    /// An answer with a body and nothing else.
    #[must_use]
    pub fn new(status: u16, body: String) -> Self {
        Self {
            status,
            body,
            version: None,
            location: None,
            resource_id: None,
            replayed: false,
            confidential: false,
            volatile: false,
        }
    }

    /// An answer with a record, written as JSON.
    pub fn record(status: u16, record: &impl Serialize) -> Result<Self> {
        serde_json::to_string(record).map(|body| Self::new(status, body)).map_err(|_| Refusal::internal())
    }

    /// An answer with a record and its version.
    pub(super) fn of(status: u16, record: &impl Versioned) -> Result<Self> {
        Self::showing(status, record, record)
    }

    /// An answer that shows a record in a form of its own.
    pub(super) fn showing(status: u16, shown: &impl Serialize, record: &impl Versioned) -> Result<Self> {
        Ok(Self::record(status, shown)?.version(record.version()).about(record.name()))
    }

    /// An answer with the stored text of a record, and its version.
    pub(super) fn stored((body, version): (String, i64)) -> Self {
        Self::new(200, body).version(version)
    }

    /// Adds the record's version as `ETag`.
    #[must_use]
    pub fn version(mut self, version: i64) -> Self {
        self.version = Some(version);
        self
    }

    /// Adds the `Location` of the record that was created.
    #[must_use]
    pub fn location(mut self, location: String) -> Self {
        self.location = Some(location);
        self
    }

    /// Names the record that was written.
    #[must_use]
    pub fn about(mut self, resource_id: &str) -> Self {
        self.resource_id = Some(resource_id.to_owned());
        self
    }

    /// Marks the body as one that holds a secret.
    #[must_use]
    pub fn confidential(mut self) -> Self {
        self.confidential = true;
        self
    }

    /// Marks the body as one that changes without a new version.
    #[must_use]
    pub fn volatile(mut self) -> Self {
        self.volatile = true;
        self
    }

    pub(super) fn keep(&self, key: &str, secrets: &SecretBox, dice: &dyn Dice) -> Result<String> {
        let sealed = if self.confidential {
            Some(
                STANDARD
                    .encode(secrets.seal(dice, context(key), &self.body).map_err(|_| Refusal::internal())?),
            )
        } else {
            None
        };
        let kept = StoredAnswer {
            status: self.status,
            version: self.version,
            location: self.location.clone(),
            body: sealed.is_none().then(|| self.body.clone()),
            sealed,
        };
        serde_json::to_string(&kept).map_err(|_| Refusal::internal())
    }

    /// The key under which a stored answer is sealed.
    pub(crate) fn sealed_under(
        text: &str,
        key: &str,
        secrets: &SecretBox,
    ) -> Result<SealedUnder, SecretBoxError> {
        secrets.sealed_under(context(key), &StoredAnswer::read_sealed(text)?.1)
    }

    /// Seals a stored answer again under the current key; `None` when it already is.
    pub(super) fn rewrap(
        text: &str,
        key: &str,
        secrets: &SecretBox,
        dice: &dyn Dice,
    ) -> Result<Option<String>, SecretBoxError> {
        let (kept, sealed) = StoredAnswer::read_sealed(text)?;
        let Some(sealed) = secrets.rewrap(dice, context(key), &sealed)? else { return Ok(None) };
        let kept = StoredAnswer { sealed: Some(STANDARD.encode(sealed)), ..kept };
        serde_json::to_string(&kept).map(Some).map_err(|_| SecretBoxError::UnknownForm)
    }

    pub(super) fn replay(text: &str, key: &str, secrets: &SecretBox) -> Result<Self> {
        let kept: StoredAnswer = serde_json::from_str(text).map_err(|_| Refusal::internal())?;
        let confidential = kept.sealed.is_some();
        let body = match (kept.body, kept.sealed) {
            (Some(body), _) => body,
            (None, Some(sealed)) => {
                let sealed = STANDARD.decode(sealed).map_err(|_| Refusal::internal())?;
                secrets.open(context(key), &sealed).map_err(|_| Refusal::internal())?.to_string()
            }
            (None, None) => return Err(Refusal::internal()),
        };
        let (status, version, location) = (kept.status, kept.version, kept.location);
        Ok(Self { replayed: true, confidential, version, location, ..Self::new(status, body) })
    }
}

impl StoredAnswer {
    /// The stored form and the bytes of its sealed body.
    fn read_sealed(text: &str) -> Result<(Self, Vec<u8>), SecretBoxError> {
        let kept: Self = serde_json::from_str(text).map_err(|_| SecretBoxError::UnknownForm)?;
        let sealed = kept.sealed.as_ref().and_then(|sealed| STANDARD.decode(sealed).ok());
        Ok((kept, sealed.ok_or(SecretBoxError::UnknownForm)?))
    }
}

/// Binds a sealed answer to its key; no endpoint id looks like an idempotency key's context with version 0.
fn context(key: &str) -> SecretContext<'_> {
    SecretContext::SigningSecret { endpoint_id: key, secret_version: 0 }
}
