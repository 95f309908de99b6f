//! Refunds in the sandbox: advanced by the merchant's developer, or automatically (contract 3.6, 6.3).
//!
//! If the merchant's setting `sandbox_auto_advance` asks for it, a refund of test mode goes to `processing` one
//! second after it was requested and ends one second later. The due refunds are read from the refunds themselves,
//! so this survives a restart. Each is checked again inside the transaction that advances it, so several instances
//! may do this.

use authority_domain::refund::RefundReportRequest;
use authority_domain::sandbox::advances::RefundAdvance;
use authority_domain::{Refund, RefundId, Result, Tenant};
use authority_store::StoreError;
use authority_store::shards::Turns;
use serde_json::{Map, Value, json};

use super::processor_event_id;
use crate::app::mutation::on_its_own;
use crate::app::{App, Owner, Work, refund};

impl App {
    /// Open refunds that advance automatically, by id, after `after`; at most `limit`.
    pub async fn sandbox_refunds_moving(
        &self,
        after: Option<RefundId>,
        limit: i64,
    ) -> Result<Vec<(Tenant, Refund)>, StoreError> {
        self.read_list(async move |tx| tx.refunds_moving_by_themselves(after.as_ref(), limit).await).await
    }

    /// Advances a refund when its time has come; returns whether it did.
    ///
    /// # Errors
    /// What the store reports, or `payload_too_large`.
    pub async fn sandbox_refund_move(&self, tenant: Tenant, id: RefundId) -> Result<bool> {
        on_its_own(self, Turns::of(&tenant.merchant_id), async move |work| {
            let Some(refund) = work.tx.refund_get(&tenant, &id).await? else { return Ok(false) };
            let Some(step) = RefundAdvance::by_itself(&refund, work.now) else { return Ok(false) };
            let owner = work.owner(tenant).await?;
            Ok(report(work, &owner, refund, step.report()).await?.0)
        })
        .await
    }
}

/// Reports on a refund as the processor; returns whether it changed, and the refund as it is then.
pub(super) async fn report(
    work: &mut Work<'_>,
    owner: &Owner,
    refund: Refund,
    mut reported: Map<String, Value>,
) -> Result<(bool, Refund)> {
    reported.insert("processor_event_id".to_owned(), json!(processor_event_id(work)));
    let request = RefundReportRequest::read(&Value::Object(reported))?;
    refund::reports::report(work, owner, refund, &request.report).await
}

/// Reports as the processor that the refund is processing, then that it is completed.
pub(super) async fn complete(work: &mut Work<'_>, owner: &Owner, mut refund: Refund) -> Result<()> {
    for to in ["processing", "completed"] {
        let reported = RefundAdvance::read(&json!({ "to": to }))?.report();
        (_, refund) = report(work, owner, refund, reported).await?;
    }
    Ok(())
}
