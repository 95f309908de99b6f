//! Reading orders, and the numbers of new ones (contract 1.1, 4.1, 4.5).

use authority_domain::list_filter::OrderFilter;
use authority_domain::{ListKind, Named, OrderNumber, Result, Tenant};

use crate::app::{Answer, App, Caller, List, ListRequest, Owner, Work};

impl App {
    /// `GET /orders/:order`: returns the stored text unchanged.
    pub async fn order_get(&self, caller: &Caller, number: OrderNumber) -> Result<Answer> {
        self.order_read(Ok(caller.tenant.clone()), Ok(number)).await
    }

    /// The same for the operator, whose path names the tenant.
    pub async fn order_read(&self, tenant: Named<Tenant>, number: Named<OrderNumber>) -> Result<Answer> {
        let (Ok(tenant), Ok(number)) = (tenant, number) else { return Err(OrderNumber::missing()) };
        let found = self.read(async move |tx| tx.order_body(&tenant, &number).await).await?;
        found.map(Answer::stored).ok_or_else(OrderNumber::missing)
    }

    /// `GET /orders`: newest first.
    pub async fn orders_list(
        &self,
        tenant: &Tenant,
        request: &ListRequest,
        filter: OrderFilter,
    ) -> Result<List> {
        self.list(ListKind::Orders, tenant, request, Ok, async move |tx, of| {
            Ok(tx.orders_page(&of.tenant, &filter, of.before, of.rows).await?)
        })
        .await
    }
}

/// The next generated number that no order of the tenant has; an operator may have assigned some explicitly.
pub(in crate::app) async fn free_order_number(
    work: &mut Work<'_>,
    Owner { tenant, merchant }: &Owner,
) -> Result<OrderNumber> {
    Ok(work.tx.order_number_reserve(tenant, &merchant.settings.order_number_prefix).await?)
}
