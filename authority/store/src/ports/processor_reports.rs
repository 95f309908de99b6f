//! The reports of processors, each counted once: a processor repeats a message until it is answered.

use async_trait::async_trait;
use authority_domain::body::party_name;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// The kind of a processor's message about a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessorMessage {
    /// That an attempt began.
    Start,
    /// How it went.
    Report,
    /// How a refund of it goes.
    RefundReport,
}

impl ProcessorMessage {
    /// The stored value.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Report => "report",
            Self::RefundReport => "refund_report",
        }
    }
}

/// A processor's message, identified by the processor's own event id, per kind, merchant and mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageId {
    pub(crate) tenant: Tenant,
    pub(crate) processor: String,
    pub(crate) kind: ProcessorMessage,
    pub(crate) event_id: String,
}

impl MessageId {
    /// The message of this processor, with its name normalised.
    #[must_use]
    pub fn new(tenant: &Tenant, processor: &str, kind: ProcessorMessage, event_id: &str) -> Self {
        let processor = party_name::normalized(processor);
        Self { tenant: tenant.clone(), processor, kind, event_id: event_id.to_owned() }
    }
}

/// An earlier message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownMessage {
    /// The record it was about.
    pub resource_id: String,
    /// Its content; `None` where that was not stored yet.
    pub said: Option<String>,
}

/// The reports of processors.
#[async_trait]
pub trait ProcessorReports {
    /// Records a processor's message for ever, about the record `resource_id`. `None` when it is new; otherwise
    /// returns the first message with this id. `said` is its content, `None` where that is not stored.
    async fn processor_report_claim(
        &mut self,
        message: &MessageId,
        resource_id: &str,
        said: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<KnownMessage>, StoreError>;

    /// Records for ever a message whose id no earlier one had ([`ProcessorReports::processor_report_get`]).
    async fn processor_report_keep(
        &mut self,
        message: &MessageId,
        resource_id: &str,
        said: Option<&str>,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// An earlier message with this id.
    async fn processor_report_get(&mut self, message: &MessageId)
    -> Result<Option<KnownMessage>, StoreError>;
}
