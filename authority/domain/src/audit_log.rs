//! The audit log: what operators did, and what was done in the merchant portal (contract 6.1, 20).
//!
//! Every write on the operator's side or by a form of the portal adds one entry in the same transaction: who made it,
//! for which request, on which record, and from which version to which. A refused request changes nothing and adds no
//! entry; nor does a repeated one, which is answered from the stored answer of the first. Deliberately absent: bodies.
//! They may hold secrets.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::id::{AuditId, KeyId, MerchantId, PortalSessionId, RequestId};
use crate::time::Timestamp;

/// Who writes: on the operator's side, or for a merchant in the portal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// The holder of an operator key.
    Operator(KeyId),
    /// A person with access to the database, by a command.
    CommandLine,
    /// Whoever opened a portal link of a merchant.
    PortalSession(PortalSessionId),
}

impl Author {
    /// How the command line is written where a key id would stand (contract 2.11).
    const COMMAND_LINE: &'static str = "cli";

    /// Reads the id of a key or of a portal session, or `cli`; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == Self::COMMAND_LINE {
            return Some(Self::CommandLine);
        }
        let session = || PortalSessionId::parse(text).map(Self::PortalSession);
        KeyId::parse(text).map(Self::Operator).or_else(session)
    }

    /// Takes back what this service wrote into its own store.
    #[must_use]
    pub fn from_store(text: String) -> Self {
        match PortalSessionId::parse(&text) {
            _ if text == Self::COMMAND_LINE => Self::CommandLine,
            Some(session) => Self::PortalSession(session),
            None => Self::Operator(KeyId::from_store(text)),
        }
    }

    /// The id of the key or session, or `cli`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Operator(key) => key.as_str(),
            Self::CommandLine => Self::COMMAND_LINE,
            Self::PortalSession(session) => session.as_str(),
        }
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Author {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "schema")]
crate::schema::written_as!(Author, String);

/// One write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "object", rename = "audit_entry")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditEntry {
    /// Sorts by time.
    pub id: AuditId,
    /// Who: the id of an operator key or of a portal session, or `cli`.
    pub created_by: Author,
    /// The request, as its answer named it; a command makes one up for itself.
    pub request_id: RequestId,
    /// What was asked for, e.g. `payments.report`.
    pub operation: String,
    /// Whose data, where the record or the path says so.
    pub merchant_id: Option<MerchantId>,
    /// Which half of it, where the record or the path says so.
    pub livemode: Option<bool>,
    /// The record that was asked for or made.
    pub resource_id: Option<String>,
    /// Its version before the write; `None` when it was made, when nothing changed and for records without versions.
    pub version_before: Option<i64>,
    /// Its version after the write; `None` for records without versions.
    pub version_after: Option<i64>,
    /// Why, in the operator's own words, where the operation asks for them.
    pub reason: Option<String>,
    /// When.
    pub created_at: Timestamp,
}
