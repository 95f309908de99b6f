//! The reports of processors, each counted once: a processor repeats a message until it is answered.

use authority_domain::Timestamp;

use crate::sql::transaction::keys::{MessageId, message_key};
use crate::sql::transaction::transaction_cache::KnownMessage;
use crate::sql::{Form, Result, Shard, Table, TableOrder, Together, Touches, Tx, columns, query, row};

/// A processor's message that was counted.
static PROCESSOR_REPORTS: Table = Table {
    order: TableOrder::ProcessorReport,
    touches: Touches::Any,
    columns: columns!("processor_reports":
        shard Shard, merchant_id Text, livemode Bool, processor Text, message Text, processor_event_id Text,
        resource_id Text, said Text, received_at Int),
    form: Form::Insert,
    rest: "",
    together: Together::Apart,
};

impl Tx {
    /// Records a processor's message for ever, about the record `resource_id`. `None` when it is new; otherwise
    /// returns the first message with this id. `said` is its content, `None` where that is not stored.
    pub async fn processor_report_claim(
        &mut self,
        message: &MessageId,
        resource_id: &str,
        said: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<KnownMessage>> {
        let known = self.processor_report_get(message).await?;
        if known.is_none() {
            self.processor_report_keep(message, resource_id, said, now).await?;
        }
        Ok(known)
    }

    /// Records for ever a message whose id no earlier one had ([`Tx::processor_report_get`]).
    pub async fn processor_report_keep(
        &mut self,
        message: &MessageId,
        resource_id: &str,
        said: Option<&str>,
        now: Timestamp,
    ) -> Result<()> {
        self.conn.buffer(
            &PROCESSOR_REPORTS,
            [message_key(message)],
            row!(
                Shard::of(&message.tenant.merchant_id), message.tenant.merchant_id.as_str();
                message.tenant.livemode, message.processor.as_str();
                message.kind.as_str(), message.event_id.as_str(), resource_id, said, now.as_ms()),
        );
        Ok(())
    }

    /// An earlier message with this id.
    pub async fn processor_report_get(&mut self, message: &MessageId) -> Result<Option<KnownMessage>> {
        let key = message_key(message);
        if let Some(known) = self.conn.cache.messages.get(&key) {
            return Ok(known.clone());
        }
        let found: Option<(String, Option<String>)> = query(
            "SELECT resource_id, said FROM processor_reports WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 \
             AND processor = $4 AND message = $5 AND processor_event_id = $6",
        )
        .bind_tenant(&message.tenant)
        .binds((&message.processor, message.kind.as_str(), &message.event_id))
        .about(&[key])
        .read_optional(&mut self.conn)
        .await?;
        Ok(found.map(|(resource_id, said)| KnownMessage { resource_id, said }))
    }
}
