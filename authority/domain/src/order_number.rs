//! The order number: given by the operator or generated, never reused (contract 1.1).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::Named;
use crate::refusal::Refusal;

/// The only identifier of an order (contract 1.1): `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderNumber(String);

impl OrderNumber {
    /// `None` when the text is no order number, so that a malformed path segment is a record that does not exist.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = text.bytes();
        let first = bytes.next().is_some_and(|b| b.is_ascii_alphanumeric());
        let rest = bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        (first && rest && text.len() <= 64).then(|| Self(text.to_owned()))
    }

    /// The refusal of a request about an order that is not there.
    #[must_use]
    pub fn missing() -> Refusal {
        Refusal::not_found("order")
    }

    /// Reads a number in a path. A malformed one names no order.
    ///
    /// # Errors
    /// `not_found`.
    pub fn named(text: &str) -> Named<Self> {
        Self::parse(text).ok_or_else(Self::missing)
    }

    /// The `n`-th generated number of a merchant and mode.
    #[must_use]
    pub fn generated(prefix: &str, n: i64) -> Self {
        Self(format!("{prefix}{n}"))
    }

    /// Takes back a number that this service wrote into its own store.
    #[must_use]
    pub fn from_store(text: String) -> Self {
        Self(text)
    }

    /// The text form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(feature = "schema")]
crate::schema::inline_schema!(
    OrderNumber,
    schemars::json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" })
);

impl fmt::Display for OrderNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for OrderNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
