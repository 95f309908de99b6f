//! Reports that processors and carriers would send, triggered by the merchant's developer (contract 6.3, 3.5 to
//! 3.7).

use authority_domain::sandbox::advances::{PaymentAdvance, RefundAdvance, ShipmentAdvance};
use authority_domain::shipment::ShipmentReport;
use authority_domain::{Named, PaymentId, RefundId, Result, ShipmentId};

use super::{payments, refunding};
use crate::app::report_result::{PaymentReportResult, RefundReportResult, ShipmentReportResult};
use crate::app::{Answer, App, Mutation, Owner, shipment};

impl App {
    /// `POST /payments/:id/advance`.
    pub async fn sandbox_payment_advance(
        &self,
        whose: Owner,
        mutation: Mutation,
        id: Named<PaymentId>,
    ) -> Result<Answer> {
        let advance = PaymentAdvance::read(&mutation.body);
        self.for_owner(mutation, whose, None, async move |work, owner| {
            let payment = work.tx.payment_get(&owner.tenant, &id?).await?;
            let payment = payment.ok_or_else(PaymentId::missing)?;
            work.check_version(payment.resource_version)?;
            let (applied, payment) = payments::report(work, &owner, payment, advance?.report()).await?;
            let result = PaymentReportResult { applied, payment: &payment };
            Answer::showing(200, &result, &payment)
        })
        .await
    }

    /// `POST /refunds/:id/advance`.
    pub async fn sandbox_refund_advance(
        &self,
        whose: Owner,
        mutation: Mutation,
        id: Named<RefundId>,
    ) -> Result<Answer> {
        let advance = RefundAdvance::read(&mutation.body);
        self.for_owner(mutation, whose, None, async move |work, owner| {
            let refund = work.tx.refund_get(&owner.tenant, &id?).await?;
            let refund = refund.ok_or_else(RefundId::missing)?;
            work.check_version(refund.resource_version)?;
            let (applied, refund) = refunding::report(work, &owner, refund, advance?.report()).await?;
            let result = RefundReportResult { applied, refund: &refund };
            Answer::showing(200, &result, &refund)
        })
        .await
    }

    /// `POST /shipments/:id/advance`.
    pub async fn sandbox_shipment_advance(
        &self,
        whose: Owner,
        mutation: Mutation,
        id: Named<ShipmentId>,
    ) -> Result<Answer> {
        let advance = ShipmentAdvance::read(&mutation.body);
        self.for_owner(mutation, whose, None, async move |work, owner| {
            let found = work.tx.shipment_find(&id?).await?;
            let found = found.filter(|(tenant, _)| *tenant == owner.tenant);
            let (_, shipment) = found.ok_or_else(ShipmentId::missing)?;
            work.check_version(shipment.resource_version)?;
            let reported = ShipmentReport::read(&advance?.report(), work.now)?;
            let (applied, shipment) = shipment::reports::report(work, &owner, shipment, &reported).await?;
            let result = ShipmentReportResult { applied, shipment: &shipment };
            Answer::showing(200, &result, &shipment)
        })
        .await
    }
}
