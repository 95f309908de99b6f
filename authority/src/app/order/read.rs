//! Reading orders, and the numbers of new ones (contract 1.1, 4.1, 4.5).

use authority_domain::cursor::ListKind;
use authority_domain::list_filter::OrderFilter;
use authority_domain::merchant::Merchant;
use authority_domain::order::number::OrderNumber;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use authority_store::StoreError;
use authority_store::tx::Tx;

use crate::app::access::Caller;
use crate::app::lists::{List, ListRequest};
use crate::app::mutation::Work;
use crate::app::{Answer, App};

impl App {
    /// `GET /orders/:order`: returns the stored text unchanged.
    ///
    /// # Errors
    /// `not_found`; `None` is a malformed number.
    pub async fn order_get(&self, caller: &Caller, number: Option<OrderNumber>) -> Result<Answer, Refusal> {
        self.order_read(Some(caller.tenant.clone()), number).await
    }

    /// The same for the operator, whose path names the tenant; `None` is a malformed path.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn order_read(
        &self,
        tenant: Option<Tenant>,
        number: Option<OrderNumber>,
    ) -> Result<Answer, Refusal> {
        let (tenant, number) = tenant.zip(number).ok_or_else(|| Refusal::not_found("order"))?;
        let found: Option<(String, i64)> = self
            .store
            .read(move |tx: &mut Tx| Box::pin(async move { tx.order_body(&tenant, &number).await }))
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        let (body, version) = found.ok_or_else(|| Refusal::not_found("order"))?;
        Ok(Answer::new(200, body).version(version))
    }

    /// `GET /orders`: newest first.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub async fn orders_list(
        &self,
        tenant: &Tenant,
        request: &ListRequest,
        filter: OrderFilter,
    ) -> Result<List, Refusal> {
        self.list(ListKind::Orders, tenant, request, Ok, move |tx, of| {
            Box::pin(async move { Ok(tx.orders_page(&of.tenant, &filter, of.before, of.rows).await?) })
        })
        .await
    }
}

/// The next generated number that no order of the tenant has; an operator may have assigned some explicitly.
pub(in crate::app) async fn free_order_number(
    work: &mut Work<'_>,
    tenant: &Tenant,
    merchant: &Merchant,
) -> Result<OrderNumber, Refusal> {
    Ok(work.tx.order_number_reserve(tenant, &merchant.settings.order_number_prefix).await?)
}
