//! The partner connection: two merchants that agreed to share orders (contract 2.14, 4.14).
//!
//! One merchant invites and gets a code, which works once and for seven days; the other accepts with the code, and
//! from then on either may share orders with the other, and either may end it. Merchants cannot be looked up: only
//! someone who was given the code has it. Each side has a label of its own that the other never sees.
//!
//! | From | To | By |
//! |---|---|---|
//! | – | `pending` | the inviting merchant |
//! | `pending` | `active` | another merchant, with the code |
//! | `pending` | `expired` | seven days, by the clock; nothing is written |
//! | `pending` | `revoked` | the inviting merchant |
//! | `active` | `revoked` | either side |
//!
//! `expired` and `revoked` are terminal. Deliberately absent: why an invitation was not accepted. Whoever holds a code
//! that does not work is told the same for every reason.

use serde::Serialize;

use crate::id::{ConnectionId, MerchantId};
use crate::refusal::{Refusal, Result};
use crate::tenant::MerchantContext;
use crate::text_enum::text_enum;
use crate::time::Timestamp;

/// For how long an invitation can be accepted, in milliseconds: 7 days (contract 2.14).
pub const INVITE_MS: i64 = 7 * 24 * 60 * 60 * 1000;

text_enum! {
    /// Where a connection stands.
    ConnectionStatus {
        /// Waits for a partner.
        Pending = "pending",
        /// Orders can be shared on it.
        Active = "active",
        /// Ended by one of the two.
        Revoked = "revoked",
        /// Nobody accepted in time.
        Expired = "expired",
    }
}

text_enum! {
    /// Who invited whom, from the reader's side.
    ConnectionDirection {
        /// The reader invited.
        Outgoing = "outgoing",
        /// The reader was invited.
        Incoming = "incoming",
    }
}

/// One of the two merchants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionSide {
    /// Who.
    pub merchant: MerchantContext,
    /// What this side calls the connection; the other never sees it.
    pub label: Option<String>,
}

/// What became of an invitation. That it ran out is not kept: the clock says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// Nobody has accepted yet.
    Invited,
    /// Somebody has.
    Accepted {
        /// Who.
        partner: ConnectionSide,
        /// When.
        at: Timestamp,
    },
    /// One side has ended it.
    Revoked {
        /// Who had accepted, and when, if somebody had.
        accepted: Option<(ConnectionSide, Timestamp)>,
        /// When.
        at: Timestamp,
    },
}

/// A connection with both sides, as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the members are those of contract 2.14
pub struct PartnerConnection {
    pub id: ConnectionId,
    pub livemode: bool,
    pub inviter: ConnectionSide,
    pub state: ConnectionState,
    pub invite_expires_at: Timestamp,
    pub resource_version: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A connection as one of the two reads it (contract 2.14).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "object", rename = "partner_connection")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeenConnection {
    /// Identifies the connection.
    pub id: ConnectionId,
    /// Where the connection stands.
    pub status: ConnectionStatus,
    /// Who invited whom, from the reader's side.
    pub direction: ConnectionDirection,
    /// Who invited.
    pub inviter: MerchantContext,
    /// Who accepted; `null` until somebody does.
    pub partner: Option<MerchantContext>,
    /// What the reader calls the connection; the other side never sees it.
    pub label: Option<String>,
    /// Up to when the invitation can be accepted: seven days after it was made.
    pub invite_expires_at: Timestamp,
    /// When the invitation was accepted.
    pub accepted_at: Option<Timestamp>,
    /// When one of the two ended it.
    pub revoked_at: Option<Timestamp>,
    /// Counts the changes of this record, from 1.
    pub resource_version: i64,
    /// `false` for test data, which never mixes with live data.
    pub livemode: bool,
    /// When the record was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl PartnerConnection {
    /// A new invitation.
    #[must_use]
    pub fn invite(id: ConnectionId, livemode: bool, inviter: ConnectionSide, now: Timestamp) -> Self {
        Self {
            id,
            livemode,
            inviter,
            state: ConnectionState::Invited,
            invite_expires_at: now.plus_ms(INVITE_MS),
            resource_version: 1,
            created_at: now,
            updated_at: now,
        }
    }

    /// Where it stands at this time.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> ConnectionStatus {
        match self.state {
            ConnectionState::Invited if now >= self.invite_expires_at => ConnectionStatus::Expired,
            ConnectionState::Invited => ConnectionStatus::Pending,
            ConnectionState::Accepted { .. } => ConnectionStatus::Active,
            ConnectionState::Revoked { .. } => ConnectionStatus::Revoked,
        }
    }

    /// Who has accepted.
    #[must_use]
    pub fn partner(&self) -> Option<&ConnectionSide> {
        self.accepted().map(|(partner, _)| partner)
    }

    /// Who has accepted, and when.
    fn accepted(&self) -> Option<(&ConnectionSide, Timestamp)> {
        match &self.state {
            ConnectionState::Invited => None,
            ConnectionState::Accepted { partner, at } => Some((partner, *at)),
            ConnectionState::Revoked { accepted, .. } => {
                accepted.as_ref().map(|(partner, at)| (partner, *at))
            }
        }
    }

    /// The other of the two, where there is one and `merchant` is the one.
    #[must_use]
    pub fn other_side(&self, merchant: &MerchantId) -> Option<&ConnectionSide> {
        let partner = self.partner()?;
        match merchant {
            id if *id == self.inviter.merchant.id => Some(partner),
            id if *id == partner.merchant.id => Some(&self.inviter),
            _ => None,
        }
    }

    /// The connection after `partner` accepted; `None` when the code does not work for it: it is the inviter's own, was
    /// used, was taken back or has run out.
    #[must_use]
    pub fn accept(self, partner: ConnectionSide, now: Timestamp) -> Option<Self> {
        let works =
            self.status(now) == ConnectionStatus::Pending && partner.merchant.id != self.inviter.merchant.id;
        works.then(|| self.changed(ConnectionState::Accepted { partner, at: now }, now))
    }

    /// The connection after one side ended it; `None` when that was done before.
    ///
    /// # Errors
    /// `invalid_state_transition` for an invitation that has run out: there is nothing to end.
    pub fn revoke(self, now: Timestamp) -> Result<Option<Self>> {
        match self.status(now) {
            ConnectionStatus::Revoked => return Ok(None),
            ConnectionStatus::Expired => {
                let detail = "The invitation has run out; there is nothing to revoke.";
                let [from, to] = [ConnectionStatus::Expired, ConnectionStatus::Revoked];
                return Err(Refusal::transition(from.as_str(), to.as_str(), detail));
            }
            ConnectionStatus::Pending | ConnectionStatus::Active => {}
        }
        let accepted = self.accepted().map(|(partner, at)| (partner.clone(), at));
        Ok(Some(self.changed(ConnectionState::Revoked { accepted, at: now }, now)))
    }

    /// What `reader` sees of it.
    #[must_use]
    pub fn seen_by(&self, reader: &MerchantId, now: Timestamp) -> SeenConnection {
        let (direction, side) = match self.partner() {
            Some(partner) if partner.merchant.id == *reader => (ConnectionDirection::Incoming, partner),
            _ => (ConnectionDirection::Outgoing, &self.inviter),
        };
        let revoked_at = match self.state {
            ConnectionState::Revoked { at, .. } => Some(at),
            _ => None,
        };
        SeenConnection {
            id: self.id.clone(),
            status: self.status(now),
            direction,
            inviter: self.inviter.merchant.clone(),
            partner: self.partner().map(|partner| partner.merchant.clone()),
            label: side.label.clone(),
            invite_expires_at: self.invite_expires_at,
            accepted_at: self.accepted().map(|(_, at)| at),
            revoked_at,
            resource_version: self.resource_version,
            livemode: self.livemode,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }

    fn changed(self, state: ConnectionState, now: Timestamp) -> Self {
        Self {
            resource_version: self.resource_version + 1,
            updated_at: now.max(self.updated_at),
            state,
            ..self
        }
    }
}
