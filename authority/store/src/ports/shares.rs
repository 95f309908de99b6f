//! Shares of orders (contract 2.14, 4.14).
//!
//! A share is active while its own row and its connection say so: ending a connection ends all its shares at once,
//! however many there are. Every function here reads shares in that sense, except [`Shares::shares_to_end`], which
//! finds the rows that are not updated yet.

use async_trait::async_trait;
use authority_domain::id::{ConnectionId, ShareId};
use authority_domain::list_filter::ShareFilter;
use authority_domain::order::number::OrderNumber;
use authority_domain::partner::share::OrderShare;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::Page;
use crate::StoreError;

/// The sequence numbers of a share's first event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharePositions {
    /// In the owner's stream and list.
    pub owner: i64,
    /// In the partner's.
    pub partner: i64,
}

/// Shares of orders.
#[async_trait]
pub trait Shares {
    /// Writes the first version of a share.
    ///
    /// # Errors
    /// [`Conflict(SharedOrder)`](crate::Constraint::SharedOrder) when the order is shared on this connection already.
    async fn share_insert(&mut self, share: &OrderShare, places: SharePositions) -> Result<(), StoreError>;

    /// Writes the version of a share that was revoked.
    async fn share_revoke(&mut self, share: &OrderShare) -> Result<(), StoreError>;

    /// A share that the tenant owns.
    async fn share_get(&mut self, tenant: &Tenant, id: &ShareId) -> Result<Option<OrderShare>, StoreError>;

    /// The active share of an order on a connection.
    async fn share_on_connection(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        connection: &ConnectionId,
    ) -> Result<Option<ShareId>, StoreError>;

    /// Up to `limit` shares that the tenant owns, before position `before`, newest first.
    async fn shares_page(
        &mut self,
        tenant: &Tenant,
        filter: &ShareFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<OrderShare>, StoreError>;

    /// The active shares of these orders of the tenant, by order and the share's age.
    async fn shares_of_orders(
        &mut self,
        tenant: &Tenant,
        orders: &[&OrderNumber],
    ) -> Result<Vec<OrderShare>, StoreError>;

    /// Up to `limit` shares of an ended connection whose rows are not updated yet, each with the time when it ended.
    async fn shares_to_end(
        &mut self,
        connection: &ConnectionId,
        limit: i64,
    ) -> Result<Vec<(OrderShare, Timestamp)>, StoreError>;

    /// The last event of this share in the partner's stream that shows the order, as stored bytes.
    async fn share_last_shown(&mut self, share: &OrderShare) -> Result<Option<String>, StoreError>;
}
