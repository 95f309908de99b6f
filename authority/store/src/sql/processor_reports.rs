//! The messages of processors that were counted.

use async_trait::async_trait;
use authority_domain::time::Timestamp;

use super::Session;
use super::rows::{Form, Kind, Table, TableOrder, Together, Touches};
use crate::StoreError;
use crate::ports::{KnownMessage, MessageId, ProcessorReports};

/// A processor's message that was counted.
static PROCESSOR_REPORTS: Table = Table {
    order: TableOrder::ProcessorReport,
    touches: Touches::Any,
    into: "INSERT INTO processor_reports (merchant_id, livemode, processor, message, processor_event_id, resource_id, \
        said, received_at)",
    columns: &[Kind::Text, Kind::Bool, Kind::Text, Kind::Text, Kind::Text, Kind::Text, Kind::Text, Kind::Int],
    form: Form::Insert,
    rest: "",
    together: Together::Apart,
};

/// The key under which a message is buffered.
pub(super) fn report_key(message: &MessageId) -> String {
    let MessageId { tenant, processor, kind, event_id } = message;
    format!("{}/{}/{}/{processor}/{event_id}", kind.as_str(), tenant.merchant_id, tenant.livemode)
}

#[async_trait]
impl ProcessorReports for Session<'_> {
    async fn processor_report_claim(
        &mut self,
        message: &MessageId,
        resource_id: &str,
        said: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<KnownMessage>, StoreError> {
        let known = self.processor_report_get(message).await?;
        if known.is_none() {
            self.processor_report_keep(message, resource_id, said, now).await?;
        }
        Ok(known)
    }

    async fn processor_report_keep(
        &mut self,
        message: &MessageId,
        resource_id: &str,
        said: Option<&str>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.conn.buffer(
            &PROCESSOR_REPORTS,
            [report_key(message)],
            [
                message.tenant.merchant_id.as_str().into(),
                message.tenant.livemode.into(),
                message.processor.as_str().into(),
                message.kind.as_str().into(),
                message.event_id.as_str().into(),
                resource_id.into(),
                said.into(),
                now.as_ms().into(),
            ],
        );
        Ok(())
    }

    async fn processor_report_get(
        &mut self,
        message: &MessageId,
    ) -> Result<Option<KnownMessage>, StoreError> {
        let key = report_key(message);
        if let Some(known) = self.conn.cache.message(&key) {
            return Ok(known.cloned());
        }
        let conn = self.conn.about(&[key]).await?;
        let found: Option<(String, Option<String>)> = sqlx::query_as(
            "SELECT resource_id, said FROM processor_reports WHERE merchant_id = $1 AND livemode = $2 \
             AND processor = $3 AND message = $4 AND processor_event_id = $5",
        )
        .bind(message.tenant.merchant_id.as_str())
        .bind(message.tenant.livemode)
        .bind(&message.processor)
        .bind(message.kind.as_str())
        .bind(&message.event_id)
        .fetch_optional(conn)
        .await?;
        Ok(found.map(|(resource_id, said)| KnownMessage { resource_id, said }))
    }
}
