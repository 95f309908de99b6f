//! Reading payments (contract 2.3, 4.1, 4.5).
//!
//! What is read is the stored text. It is stated anew whenever a refund changes what it reserves, so that
//! `amount_refund_pending` is always that of the open refunds (contract 3.6).

use authority_domain::cursor::ListKind;
use authority_domain::id::PaymentId;
use authority_domain::list_filter::PaymentFilter;
use authority_domain::refusal::Refusal;
use authority_store::StoreError;
use authority_store::ports::Tx;

use super::access::Caller;
use super::lists::{List, ListRequest};
use super::{Answer, App};

impl App {
    /// `GET /payments/:payment`.
    ///
    /// # Errors
    /// `not_found`; `None` is a malformed id.
    pub async fn payment_get(&self, caller: &Caller, id: Option<PaymentId>) -> Result<Answer, Refusal> {
        let missing = || Refusal::not_found("payment");
        let id = id.ok_or_else(missing)?;
        let tenant = caller.tenant.clone();
        let found: Option<(String, i64)> = self
            .store
            .read(move |tx: &mut dyn Tx| Box::pin(async move { tx.payment_body(&tenant, &id).await }))
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        let (body, version) = found.ok_or_else(missing)?;
        // What open refunds reserve of it is stated without a version.
        Ok(Answer::new(200, body).version(version).volatile())
    }

    /// `GET /payments`: newest first.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub async fn payments_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        filter: PaymentFilter,
    ) -> Result<List, Refusal> {
        self.list(ListKind::Payments, &caller.tenant, request, Ok, move |tx, of| {
            Box::pin(async move { Ok(tx.payments_page(&of.tenant, &filter, of.before, of.rows).await?) })
        })
        .await
    }
}
