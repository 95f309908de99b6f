//! Keys other than ids: what answers, messages, counters, orders, and records that were made under an idempotency key
//! are looked up by, and the text under which their rows are buffered and cached.
//!
//! A row that is read by its id is buffered under that. Each kind of the others has a word of its own in front, so that
//! no two are alike.

use std::borrow::Cow;

use authority_domain::body::party_name;
use authority_domain::refund::RequesterType;
use authority_domain::{MerchantId, OrderNumber, Tenant};

use crate::shards::Shard;

/// The scope within which an idempotency key names one write (contract 4.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyScope {
    /// A merchant's requests in one mode, whichever of its API keys they use.
    Merchant(Tenant),
    /// The operator's requests about one merchant in one mode.
    OperatorFor(Tenant),
    /// The operator's other requests.
    Operator,
}

/// The columns of a scope: merchant ids begin with `mer_`, so the operator's scopes belong to no merchant. Those
/// about a merchant are in its shard.
pub(crate) fn scope_columns(scope: &KeyScope) -> (Shard, Cow<'_, str>, bool) {
    let shard = |tenant: &Tenant| Shard::of(&tenant.merchant_id);
    match scope {
        KeyScope::Merchant(tenant) => {
            (shard(tenant), Cow::Borrowed(tenant.merchant_id.as_str()), tenant.livemode)
        }
        KeyScope::OperatorFor(tenant) => {
            (shard(tenant), Cow::Owned(format!("operator:{}", tenant.merchant_id)), tenant.livemode)
        }
        KeyScope::Operator => (Shard::OPERATOR, Cow::Borrowed("operator"), false),
    }
}

/// The shard of what is stored under this merchant or word of the operator.
pub(crate) fn shard_of_scope(merchant: &str) -> Shard {
    let merchant = merchant.strip_prefix("operator:").unwrap_or(merchant);
    Shard::of(&MerchantId::from_store(merchant.to_owned()))
}

/// A record with the key of the request that made it, which is stored for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeUnderKey<T> {
    /// The record as it is now.
    pub record: T,
    /// The fingerprint of the request; `None` where that was not stored yet.
    pub fingerprint: Option<Vec<u8>>,
}

/// The key under which an answer is buffered.
pub(crate) fn answer_key(merchant_id: &str, livemode: bool, key: &str) -> String {
    format!("key/{merchant_id}/{livemode}/{key}")
}

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

/// The key under which a message is buffered.
pub(crate) fn message_key(message: &MessageId) -> String {
    let MessageId { tenant, processor, kind, event_id } = message;
    format!("{}/{}/{}/{processor}/{event_id}", kind.as_str(), tenant.merchant_id, tenant.livemode)
}

/// The key under which a stream's counter is buffered.
pub(crate) fn stream_key(tenant: &Tenant) -> String {
    format!("stream/{}/{}", tenant.merchant_id, tenant.livemode)
}

/// The key under which an order is buffered, and what belongs to it.
pub(crate) fn order_key(merchant: &MerchantId, livemode: bool, number: &OrderNumber) -> String {
    format!("order/{merchant}/{livemode}/{number}")
}

/// The first generated number is one above this (contract 1.1).
pub(crate) const NUMBERS_START_ABOVE: i64 = 100_000;

/// The key under which a tenant's counter of generated numbers is buffered.
pub(crate) fn counter_key(tenant: &Tenant) -> String {
    format!("orders/{}/{}", tenant.merchant_id, tenant.livemode)
}

/// The key under which a refund is buffered that was made with an idempotency key.
pub(crate) fn refund_key(tenant: &Tenant, requester: RequesterType, key: &str) -> String {
    format!("refund/{}/{}/{requester}/{key}", tenant.merchant_id, tenant.livemode)
}

/// The key under which a shipment is buffered that was made with an idempotency key.
pub(crate) fn shipment_key(tenant: &Tenant, key: &str) -> String {
    format!("shipment/{}/{}/{key}", tenant.merchant_id, tenant.livemode)
}
