//! The event: made once from a [`Change`] and serialised once; those same bytes are sent and listed for ever
//! (contract 2.10, 9).

use serde::Serialize;
use verify_core::catalog::{API_VERSION, EventType};

use crate::bounds::{EVENT_BYTES_MAX, ORDER_BYTES_MAX, ORDER_HEADROOM_BYTES};
use crate::error_code::ErrorCode;
use crate::event::cause::Cause;
use crate::event::change::{Change, Record};
use crate::event::partner_copy::{CopiedObject, PartnerCopy};
use crate::id::{ConnectionId, EventId, ShareId};
use crate::partner::share::{OrderShare, SharePermission};
use crate::refusal::{Refusal, Result};
use crate::tenant::MerchantContext;
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// What the other side of a shared workflow is.
    RecipientType {
        /// A merchant that orders are shared with.
        Partner = "partner",
    }
}

/// The other side of a shared workflow (contract 2.10).
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recipient {
    /// What the other side is.
    #[serde(rename = "type")]
    pub kind: RecipientType,
    /// In the partner's copy the reader itself, in the owner's copy the partner.
    pub merchant: MerchantContext,
    /// The connection of the two.
    pub connection_id: ConnectionId,
    /// The share of the order.
    pub share_id: ShareId,
    /// What the partner may do.
    pub permissions: Vec<SharePermission>,
}

impl Recipient {
    fn of(share: &OrderShare) -> Self {
        Self {
            kind: RecipientType::Partner,
            merchant: share.partner.clone(),
            connection_id: share.connection_id.clone(),
            share_id: share.id.clone(),
            permissions: share.permissions.clone(),
        }
    }
}

/// An event as it is stored.
#[derive(Clone, Debug)]
pub struct NewEvent {
    /// Public id; the key by which receivers deduplicate.
    pub id: EventId,
    /// Catalog name.
    pub event_type: EventType,
    /// Position in the stream.
    pub sequence: i64,
    /// Never decreases along the sequence.
    pub created_at: Timestamp,
    /// The identifier of the record it tells of.
    pub resource_id: String,
    /// The exact bytes that every delivery and every page carries.
    pub body: String,
    /// What caused it; stored beside the bytes.
    pub cause: Cause,
}

/// What every event has.
// The members stand in the order of the contract's table (2.10): that is the order of the bytes.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Event"))]
struct Envelope<'a> {
    /// Public and immutable; the key to deduplicate by.
    id: &'a EventId,
    /// Name from the event catalog.
    #[serde(rename = "type")]
    event_type: &'static str,
    /// The version that the event was serialised with, `YYYY-MM-DD`.
    api_version: &'static str,
    /// When the event was created; never decreases along the sequence.
    created_at: Timestamp,
    /// Position in the stream of this merchant and mode: from 1, without gaps.
    sequence: i64,
    /// The version of `data.object`, where it has one; for `If-Match`.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_version: Option<i64>,
    /// `false` for test data, which never mixes with live data.
    livemode: bool,
    /// The merchant that owns the record.
    merchant: &'a MerchantContext,
    /// Only where an order is shared with a partner.
    #[serde(skip_serializing_if = "Option::is_none")]
    recipient: Option<Recipient>,
    /// What happened to what.
    data: Data<'a>,
    /// Where the record can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<Links>,
}

/// What an event tells of.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "EventData"))]
struct Data<'a> {
    /// The record as it is after the change.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    object: Object<'a>,
    /// Only when an order is shared or no longer shared: how.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<&'a OrderShare>,
}

/// The record of an event, or what a partner sees of it.
#[derive(Serialize)]
#[serde(untagged)]
enum Object<'a> {
    Record(&'a Record),
    Copied(&'a CopiedObject),
}

/// Where more is to be found.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "EventLinks"))]
struct Links {
    /// The path of the record in the Merchant API, root included.
    resource: String,
}

/// The schema of what every event has; `type` and `data` are narrower in each of them.
#[cfg(feature = "schema")]
pub fn envelope_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    generator.subschema_for::<Envelope<'static>>()
}

impl NewEvent {
    /// Serialises `change` at its position in the stream of the merchant that owns the record.
    ///
    /// # Errors
    /// `payload_too_large` when the event would exceed [`EVENT_BYTES_MAX`]: the change is refused as a whole, since
    /// without its event no consumer would learn of it.
    pub fn render(
        change: &Change,
        id: EventId,
        sequence: i64,
        created_at: Timestamp,
        livemode: bool,
        merchant: &MerchantContext,
    ) -> Result<Self> {
        let record = &change.record;
        let share = match record {
            Record::Share(sharing) => Some(&sharing.share),
            _ => None,
        };
        let envelope = Envelope {
            id: &id,
            event_type: change.event_type.as_str(),
            api_version: API_VERSION,
            created_at,
            sequence,
            resource_version: record.resource_version(),
            livemode,
            merchant,
            recipient: share.map(Recipient::of),
            data: Data { object: Object::Record(record), share },
            links: record.link().map(|resource| Links { resource }),
        };
        let body = written(&envelope)?;
        let bytes_max = match change.event_type {
            EventType::CheckoutCreated => EVENT_BYTES_MAX - ORDER_HEADROOM_BYTES,
            EventType::OrderCreated => ORDER_BYTES_MAX,
            _ => EVENT_BYTES_MAX,
        };
        check_size(change.event_type, &body, bytes_max)?;
        let (resource_id, cause) = (record.resource_id().to_owned(), Cause::default());
        Ok(Self { event_type: change.event_type, id, sequence, created_at, resource_id, body, cause })
    }

    /// Serialises a partner's copy at its position in the partner's stream. It contains as many of the newest
    /// parcels as fit, so that no order becomes too large for its partners through its shipments.
    ///
    /// # Errors
    /// `payload_too_large` when it would exceed [`EVENT_BYTES_MAX`] without any parcel.
    pub fn render_copy(
        mut copy: PartnerCopy<'_>,
        id: EventId,
        sequence: i64,
        created_at: Timestamp,
    ) -> Result<Self> {
        let share = copy.share;
        let body = loop {
            let envelope = Envelope {
                id: &id,
                event_type: copy.event_type.as_str(),
                api_version: API_VERSION,
                created_at,
                sequence,
                resource_version: Some(copy.object.resource_version()),
                livemode: share.livemode,
                merchant: &share.owner,
                recipient: Some(Recipient::of(share)),
                data: Data {
                    object: Object::Copied(&copy.object),
                    share: copy.tells_share().then_some(share),
                },
                links: Some(Links { resource: format!("/v1/merchant/partner-orders/{}", share.id) }),
            };
            let body = written(&envelope)?;
            if body.len() <= EVENT_BYTES_MAX || !copy.object.leave_out_older_half() {
                break body;
            }
        };
        check_size(copy.event_type, &body, EVENT_BYTES_MAX)?;
        let (resource_id, cause) = (share.id.to_string(), Cause::default());
        Ok(Self { event_type: copy.event_type, id, sequence, created_at, resource_id, body, cause })
    }

    /// The same event with its cause.
    #[must_use]
    pub fn caused_by(self, cause: &Cause) -> Self {
        Self { cause: cause.clone(), ..self }
    }
}

fn written(envelope: &Envelope<'_>) -> Result<String> {
    serde_json::to_string(envelope)
        .map_err(|_| Refusal::new(ErrorCode::InternalError, "The event could not be written."))
}

fn check_size(event_type: EventType, body: &str, bytes_max: usize) -> Result<()> {
    if body.len() <= bytes_max {
        return Ok(());
    }
    let (name, bytes) = (event_type.as_str(), body.len());
    let detail = format!("The {name} event would have {bytes} bytes; {bytes_max} are allowed.");
    Err(Refusal::new(ErrorCode::PayloadTooLarge, detail))
}
