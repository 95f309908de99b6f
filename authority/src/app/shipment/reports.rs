//! Carriers' reports about parcels (contract 3.7, 3.9 rows 12 and 13, 6.2).
//!
//! A report has no id of its own: repeating what is known changes nothing. A report that contradicts what is known
//! raises an operator alert, so that a person looks at it.

use authority_domain::shipment::report::ShipmentReport;
use authority_domain::{ErrorCode, Named, Refusal, Result, Shipment, ShipmentId, transitions};
use authority_store::tx::FirstRead;

use crate::app::report_result::ShipmentReportResult;
use crate::app::{Answer, App, Mutation, Owner, Work, alerts};

impl App {
    /// `POST /shipments/:id/reports`.
    ///
    /// # Errors
    /// `not_found`; 422 for wrong members; the refusals of [`transitions::shipment::report`].
    pub async fn shipment_report(&self, mutation: Mutation, id: Named<ShipmentId>) -> Result<Answer> {
        let request = ShipmentReport::read(&mutation.body, self.now());
        // Its tenant and its order never change.
        let read =
            self.named(id.clone(), ShipmentId::missing, async move |tx, id| tx.shipment_find(&id).await);
        let found = read.await?;
        let reads = found.iter().flat_map(|(tenant, shipment)| {
            let order = FirstRead::Order(tenant.clone(), shipment.order_number.clone());
            [FirstRead::Shipment(shipment.id.clone()), order]
        });
        let (reads, tenant): (Vec<_>, _) = (reads.collect(), found.map(|(tenant, _)| tenant));
        let named = id.clone();
        let answered = self
            .for_tenant(mutation, tenant, reads, async move |work, owner| {
                let (_, shipment) = work.tx.shipment_find(&named?).await?.ok_or_else(ShipmentId::missing)?;
                let (applied, shipment) = report(work, &owner, shipment, &request?).await?;
                let result = ShipmentReportResult { applied, shipment: &shipment };
                Answer::showing(200, &result, &shipment)
            })
            .await;
        if let (Err(refusal), Ok(id)) = (&answered, id)
            && contradicts(refusal)
        {
            alerts::report_refused(self, "shipment", id.as_str(), refusal).await;
        }
        answered
    }
}

/// Refusals about transitions and tracking numbers (contract 6.2); an unreadable body is left to its sender.
fn contradicts(refusal: &Refusal) -> bool {
    matches!(refusal.code, ErrorCode::InvalidStateTransition | ErrorCode::ShipmentExists)
}

/// Applies a report to a parcel of `owner`; returns whether it said anything new, and the parcel as it is then.
pub(in crate::app) async fn report(
    work: &mut Work<'_>,
    owner: &Owner,
    shipment: Shipment,
    reported: &ShipmentReport,
) -> Result<(bool, Shipment)> {
    let (number, tenant) = (shipment.order_number.clone(), &owner.tenant);
    let order = work.order_of(tenant, &number).await?;
    let parcels = work.tx.shipments_of_order(tenant, &number).await?;
    let marked = work.tx.fulfillment_marks(tenant, &number).await?;
    let (shipment, changes) =
        transitions::shipment::report(order, &parcels, &marked, shipment, reported, work.now)?;
    work.commit(owner, &changes).await?;
    Ok((!changes.is_empty(), shipment))
}
