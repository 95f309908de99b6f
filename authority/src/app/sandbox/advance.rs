//! Reports that processors and carriers would send, triggered by the merchant's developer (contract 6.3, 3.5 to
//! 3.7).

use authority_domain::id::{PaymentId, RefundId, ShipmentId};
use authority_domain::refusal::Refusal;
use authority_domain::sandbox::advances::{PaymentAdvance, RefundAdvance, ShipmentAdvance};
use authority_domain::shipment::ShipmentReportRequest;
use serde_json::Value;

use super::{AdvanceResult, Named, Owner, payments, refunding, run};
use crate::app::{Answer, App, Mutation, shipment};

impl App {
    /// `POST /payments/:id/advance`.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; `processor_conflict`.
    pub async fn sandbox_payment_advance(
        &self,
        whose: Owner,
        mutation: Mutation,
        id: Option<PaymentId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let if_match = mutation.if_match;
        run(self, whose, mutation, move |work, tenant, _| {
            Box::pin(async move {
                let missing = || Refusal::not_found("payment");
                let id = id.ok_or_else(missing)?;
                let payment = work.tx.payment_get(&tenant, &id).await?.ok_or_else(missing)?;
                Mutation::check_version(if_match, payment.resource_version, false)?;
                let reported = PaymentAdvance::read(&body)?.report();
                let (applied, payment) = payments::report(work, &tenant, payment, reported).await?;
                let result = AdvanceResult { applied, record: Named::Payment(&payment) };
                Ok(Answer::record(200, &result)?.version(payment.resource_version))
            })
        })
        .await
    }

    /// `POST /refunds/:id/advance`.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; `processor_conflict`.
    pub async fn sandbox_refund_advance(
        &self,
        whose: Owner,
        mutation: Mutation,
        id: Option<RefundId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let if_match = mutation.if_match;
        run(self, whose, mutation, move |work, tenant, _| {
            Box::pin(async move {
                let missing = || Refusal::not_found("refund");
                let id = id.ok_or_else(missing)?;
                let refund = work.tx.refund_get(&tenant, &id).await?.ok_or_else(missing)?;
                Mutation::check_version(if_match, refund.resource_version, false)?;
                let reported = RefundAdvance::read(&body)?.report();
                let (applied, refund) = refunding::report(work, &tenant, refund, reported).await?;
                let result = AdvanceResult { applied, record: Named::Refund(&refund) };
                Ok(Answer::record(200, &result)?.version(refund.resource_version))
            })
        })
        .await
    }

    /// `POST /shipments/:id/advance`.
    ///
    /// # Errors
    /// `not_found`; `resource_version_conflict`; 422 for wrong members; `invalid_state_transition`.
    pub async fn sandbox_shipment_advance(
        &self,
        whose: Owner,
        mutation: Mutation,
        id: Option<ShipmentId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let if_match = mutation.if_match;
        run(self, whose, mutation, move |work, tenant, _| {
            Box::pin(async move {
                let missing = || Refusal::not_found("shipment");
                let id = id.ok_or_else(missing)?;
                let (owner, shipment) = work.tx.shipment_find(&id).await?.ok_or_else(missing)?;
                if owner != tenant {
                    return Err(missing());
                }
                Mutation::check_version(if_match, shipment.resource_version, false)?;
                let reported = ShipmentAdvance::read(&body)?.report();
                let reported = ShipmentReportRequest::read(&reported, work.now)?.into_report();
                let (applied, shipment) =
                    shipment::reports::report(work, &tenant, shipment, &reported).await?;
                let result = AdvanceResult { applied, record: Named::Shipment(&shipment) };
                Ok(Answer::record(200, &result)?.version(shipment.resource_version))
            })
        })
        .await
    }
}
