//! Carriers' reports about parcels (contract 3.7, 3.9 rows 12 and 13, 6.2).
//!
//! A report has no id of its own: repeating what is known changes nothing. A report that contradicts what is known
//! raises an operator alert, so that a person looks at it.

use authority_domain::error_code::ErrorCode;
use authority_domain::id::ShipmentId;
use authority_domain::refusal::Refusal;
use authority_domain::shipment;
use authority_domain::shipment::report::ShipmentReport;
use authority_domain::shipment::{Shipment, ShipmentReportRequest};
use authority_domain::tenant::Tenant;
use authority_store::StoreError;
use authority_store::shards::Turns;
use authority_store::tx::{FirstRead, KeyScope, Tx};
use serde::Serialize;
use serde_json::Value;

use crate::app::mutation::{Work, on_its_own};
use crate::app::{Answer, App, Mutation, alerts};

/// The result of a report: the shipment as it is now, and whether this report changed it.
#[derive(Serialize)]
#[serde(tag = "object", rename = "report_result")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ShipmentReportResult"))]
pub(in crate::app) struct ReportResult<'a> {
    /// Whether the report changed it.
    applied: bool,
    /// The shipment as it is now.
    shipment: &'a Shipment,
}

impl App {
    /// `POST /shipments/:id/reports`.
    ///
    /// # Errors
    /// `not_found`; 422 for wrong members; the refusals of [`shipment::flow::report`].
    pub async fn shipment_report(
        &self,
        mutation: Mutation,
        shipment: Option<ShipmentId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let id = shipment.clone();
        let found = match shipment {
            Some(shipment) => self.shipment_to_report(shipment).await?,
            None => None,
        };
        let owner = found.as_ref().map(|(tenant, _)| tenant.clone());
        let reads = found.as_ref().map_or_else(Vec::new, |(tenant, shipment)| {
            let order = FirstRead::Order(tenant.clone(), shipment.order_number.clone());
            vec![FirstRead::Shipment(shipment.id.clone()), order]
        });
        let answered = mutation
            .run_for(self, KeyScope::Operator, owner, reads, move |work| {
                Box::pin(async move {
                    let missing = || Refusal::not_found("shipment");
                    let (_, shipment) = found.ok_or_else(missing)?;
                    let (tenant, shipment) =
                        work.tx.shipment_find(&shipment.id).await?.ok_or_else(missing)?;
                    let reported = ShipmentReportRequest::read(&body, work.now)?.into_report();
                    let (applied, shipment) = report(work, &tenant, shipment, &reported).await?;
                    let result = ReportResult { applied, shipment: &shipment };
                    Ok(Answer::record(200, &result)?
                        .version(shipment.resource_version)
                        .about(shipment.id.as_str()))
                })
            })
            .await;
        if let (Err(refusal), Some(id)) = (&answered, id)
            && contradicts(refusal)
        {
            self.alert_refused_shipment(id, refusal.clone()).await;
        }
        answered
    }

    /// The shipment before the report's turn. Its tenant and its order never change.
    async fn shipment_to_report(&self, id: ShipmentId) -> Result<Option<(Tenant, Shipment)>, StoreError> {
        self.store.read(move |tx: &mut Tx| Box::pin(async move { tx.shipment_find(&id).await })).await
    }

    /// Raises the alert about a refused report in its own transaction, because the refusal rolled the report's
    /// back.
    async fn alert_refused_shipment(&self, id: ShipmentId, refusal: Refusal) {
        let raised = on_its_own(self, Turns::NONE, move |work| {
            Box::pin(async move { alerts::report_refused(work, "shipment", id.as_str(), &refusal).await })
        });
        if let Err(error) = raised.await {
            tracing::error!(%error, "the alert about a refused report could not be raised");
        }
    }
}

/// Refusals about transitions and tracking numbers (contract 6.2); an unreadable body is left to its sender.
fn contradicts(refusal: &Refusal) -> bool {
    matches!(refusal.code, ErrorCode::InvalidStateTransition | ErrorCode::ShipmentExists)
}

/// Applies a report to a parcel of `tenant`; returns whether it said anything new, and the parcel as it is then.
pub(in crate::app) async fn report(
    work: &mut Work<'_>,
    tenant: &Tenant,
    shipment: Shipment,
    reported: &ShipmentReport,
) -> Result<(bool, Shipment), Refusal> {
    let number = shipment.order_number.clone();
    let order = work.tx.order_get(tenant, &number).await?.ok_or_else(Refusal::internal)?;
    let parcels = work.tx.shipments_of_order(tenant, &number).await?;
    let marked = work.tx.fulfillment_marks(tenant, &number).await?;
    let (shipment, changes) = shipment::flow::report(order, &parcels, &marked, shipment, reported, work.now)?;
    if changes.is_empty() {
        return Ok((false, shipment));
    }
    let merchant = work.tx.merchant_get(&tenant.merchant_id).await?.ok_or_else(Refusal::internal)?;
    work.commit(tenant, &merchant, &changes).await?;
    Ok((true, shipment))
}
