//! Partner connections (contract 2.14, 4.14).
//!
//! A connection belongs to two merchants. Each function that takes a tenant finds it for these two and for no other.

use async_trait::async_trait;
use authority_domain::id::{ConnectionId, MerchantId};
use authority_domain::list_filter::ConnectionFilter;
use authority_domain::partner::connection::PartnerConnection;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// Partner connections.
#[async_trait]
pub trait Connections {
    /// Adds an invitation; only the hash of its code is stored.
    async fn connection_insert(
        &mut self,
        connection: &PartnerConnection,
        invite_hash: &[u8; 32],
    ) -> Result<(), StoreError>;

    /// A connection that the tenant is a side of.
    async fn connection_get(
        &mut self,
        tenant: &Tenant,
        id: &ConnectionId,
    ) -> Result<Option<PartnerConnection>, StoreError>;

    /// The connection that was made with the code of this hash, in the mode, if its inviter may act.
    async fn connection_by_invite(
        &mut self,
        livemode: bool,
        invite_hash: &[u8; 32],
    ) -> Result<Option<PartnerConnection>, StoreError>;

    /// The active connection of two merchants, no matter which of them invited.
    async fn connection_between(
        &mut self,
        tenant: &Tenant,
        other: &MerchantId,
    ) -> Result<Option<ConnectionId>, StoreError>;

    /// Up to `limit` connections of the tenant before position `before`, newest first, each with its position.
    async fn connections_page(
        &mut self,
        tenant: &Tenant,
        filter: &ConnectionFilter,
        now: Timestamp,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, PartnerConnection)>, StoreError>;

    /// Writes the version of a connection that was accepted.
    ///
    /// # Errors
    /// [`Conflict(ConnectedPair)`](crate::Constraint::ConnectedPair) when the two are connected already.
    async fn connection_accept(&mut self, connection: &PartnerConnection) -> Result<(), StoreError>;

    /// Writes the version of a connection that was ended. Its shares end with it.
    async fn connection_revoke(&mut self, connection: &PartnerConnection) -> Result<(), StoreError>;

    /// Ends all connections of a merchant in both modes, including those that were not accepted yet; returns how
    /// many.
    async fn connections_end(&mut self, merchant: &MerchantId, now: Timestamp) -> Result<u64, StoreError>;

    /// Up to `limit` connections that were ended and have shares without their last events.
    async fn connections_to_end(&mut self, limit: i64) -> Result<Vec<ConnectionId>, StoreError>;

    /// Notes that all shares of an ended connection have their last events.
    async fn connection_ended(&mut self, id: &ConnectionId) -> Result<(), StoreError>;
}
