//! The order share: one order of one merchant, shown to one partner (contract 2.14, 4.14).
//!
//! The owner shares an order on an active connection, and takes it back; ending the connection takes back all shares on
//! it. A share that was taken back stays so: sharing the order again makes a new share. Sharing does not change the
//! order, so the events of a share carry the order's current version.

use serde::{Deserialize, Serialize};

use crate::id::{ConnectionId, ShareId};
use crate::order_number::OrderNumber;
use crate::tenant::MerchantContext;
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// Whether an order is shared.
    ShareStatus {
        /// The partner sees the order.
        Active = "active",
        /// The partner sees nothing any more.
        Revoked = "revoked",
    }
}

text_enum! {
    /// What a partner may do with a shared order.
    SharePermission {
        /// Read it.
        Read = "read",
    }
}

/// An order that is shared with a partner, and how (contract 2.14). Both sides read the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "order_share")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrderShare {
    /// Identifies the share.
    pub id: ShareId,
    /// The connection that it is made on.
    pub connection_id: ConnectionId,
    /// The owner's number of the order.
    pub order_number: OrderNumber,
    /// Whose order it is.
    pub owner: MerchantContext,
    /// Who it is shared with.
    pub partner: MerchantContext,
    /// What the partner may do.
    pub permissions: Vec<SharePermission>,
    /// Whether the partner sees e-mail, telephone and billing address.
    pub include_customer: bool,
    /// Whether the partner sees the money of the order and its lines.
    pub include_amounts: bool,
    /// Whether the order is shared.
    pub status: ShareStatus,
    /// When it was taken back.
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

/// What the owner says when it shares an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareTerms {
    /// E-mail, telephone and billing address are shown.
    pub include_customer: bool,
    /// Money is shown.
    pub include_amounts: bool,
}

impl OrderShare {
    /// A new share. `parties` are the owner and the partner.
    #[must_use]
    pub fn new(
        id: ShareId,
        connection_id: ConnectionId,
        order_number: OrderNumber,
        (owner, partner): (MerchantContext, MerchantContext),
        terms: ShareTerms,
        livemode: bool,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            connection_id,
            order_number,
            owner,
            partner,
            permissions: vec![SharePermission::Read],
            include_customer: terms.include_customer,
            include_amounts: terms.include_amounts,
            status: ShareStatus::Active,
            revoked_at: None,
            resource_version: 1,
            livemode,
            created_at: now,
            updated_at: now,
        }
    }

    /// The share after it was taken back at `at`; one that was taken back before stays as it is.
    #[must_use]
    pub fn revoked(self, at: Timestamp) -> Self {
        match self.status {
            ShareStatus::Revoked => self,
            ShareStatus::Active => Self {
                status: ShareStatus::Revoked,
                revoked_at: Some(at),
                resource_version: self.resource_version + 1,
                updated_at: at.max(self.updated_at),
                ..self
            },
        }
    }

    /// The share as it is on its connection: a connection that was ended took all its shares back in that moment,
    /// whether or not the share's own row says so already.
    #[must_use]
    pub fn on_connection(self, ended_at: Option<Timestamp>) -> Self {
        match ended_at {
            Some(at) => self.revoked(at),
            None => self,
        }
    }
}
