//! The orders that partners see through active shares (contract 4.14).

use async_trait::async_trait;
use authority_domain::id::ShareId;
use authority_domain::list_filter::ShareFilter;
use authority_domain::partner::share::OrderShare;
use authority_domain::tenant::Tenant;

use super::Page;
use crate::StoreError;

/// An order that a partner may see.
#[derive(Clone, Debug)]
pub struct SeenOrder {
    /// Its position in the partner's list.
    pub position: i64,
    /// How it is shared.
    pub share: OrderShare,
    /// The owner's order as JSON text; it must be filtered before the partner sees it.
    pub order: String,
    /// The order's parcels as JSON texts, oldest first; these must be filtered too.
    pub shipments: Vec<String>,
    /// The size of these texts together.
    pub bytes: usize,
}

/// Orders as their partners see them.
#[async_trait]
pub trait PartnerOrders {
    /// An order that is shared with the tenant by this share.
    async fn partner_order(
        &mut self,
        tenant: &Tenant,
        share: &ShareId,
    ) -> Result<Option<SeenOrder>, StoreError>;

    /// Up to `limit` orders that are shared with the tenant, before position `before`, newest first.
    async fn partner_orders_page(
        &mut self,
        tenant: &Tenant,
        filter: &ShareFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<SeenOrder>, StoreError>;
}
