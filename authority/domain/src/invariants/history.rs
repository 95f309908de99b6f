//! All events of one record, oldest first: each must be a possible successor of the one before (I1, I7, I9, I14).

use serde::Deserialize;
use serde_json::Value;
use verify_core::catalog::EventType;

use super::record_kind::RecordKind;
use super::share::ShareFromEvents;
use super::stored_event::StoredEvent;
use super::{Finding, FindingCode};
use crate::id::{EventId, MerchantId, ShareId};
use crate::tenant::Tenant;
use crate::time::Timestamp;

/// The parts of an envelope that the audit reads.
#[derive(Deserialize)]
struct Envelope {
    id: EventId,
    #[serde(rename = "type")]
    event_type: String,
    created_at: Timestamp,
    sequence: i64,
    resource_version: Option<i64>,
    livemode: bool,
    merchant: Merchant,
    recipient: Option<Recipient>,
    data: Data,
}

#[derive(Deserialize)]
struct Recipient {
    merchant: Merchant,
    share_id: ShareId,
}

#[derive(Deserialize)]
struct Merchant {
    id: MerchantId,
}

#[derive(Deserialize)]
struct Data {
    object: Value,
}

/// The state of one record after its events.
#[derive(Clone, Debug)]
pub struct RecordFromEvents {
    /// Kind of record.
    pub kind: RecordKind,
    /// Its id.
    pub id: String,
    /// The version of the last event.
    pub version: i64,
    /// The sequence of the first event; `None` when it was removed because of its age.
    pub first_sequence: Option<i64>,
    /// The sequence of the last event.
    pub last_sequence: i64,
    /// `data.object` of the last event.
    pub object: Value,
}

/// The events of everything that carries one id. An operator may choose an order number that looks like another
/// record's id, so there may be more than one record.
#[derive(Debug)]
pub struct History {
    tenant: Tenant,
    resource_id: String,
    /// The beginning of the stream was removed, and with it the beginnings of some histories.
    cut: bool,
    told: Vec<RecordFromEvents>,
    /// The copies of a share, where the id is one.
    share: Option<ShareFromEvents>,
}

impl History {
    /// The state before the first kept event of `resource_id`; `cut` when the beginning of the stream was removed.
    #[must_use]
    pub fn begin(tenant: &Tenant, resource_id: &str, cut: bool) -> Self {
        Self {
            tenant: tenant.clone(),
            resource_id: resource_id.to_owned(),
            cut,
            told: Vec::new(),
            share: None,
        }
    }

    /// Whose events these are.
    #[must_use]
    pub fn resource_id(&self) -> &str {
        &self.resource_id
    }

    /// Takes the next event by sequence.
    pub fn add(&mut self, event: &StoredEvent) -> Vec<Finding> {
        let (event_type, envelope) = match self.read(event) {
            Ok(read) => read,
            Err(finding) => return vec![*finding],
        };
        if self.is_copy(&envelope) {
            let first = self.share.is_none();
            let share = self.share.get_or_insert_with(|| ShareFromEvents::begin(&self.resource_id));
            return share.add(event, event_type, envelope.resource_version.unwrap_or(0), (first, self.cut));
        }
        // A share does not change the order, and a test belongs to no record (contract 3, rule 2; 3.10).
        let silent = matches!(event_type, EventType::OrderShared | EventType::OrderShareRevoked);
        let Some(kind) = RecordKind::parse(event_type.category()).filter(|_| !silent) else {
            return Vec::new();
        };
        let version = envelope.resource_version.unwrap_or(0);
        let object = envelope.data.object;
        let Some(told) = self.told.iter_mut().find(|told| told.kind == kind) else {
            let (id, sequence) = (self.resource_id.clone(), event.sequence);
            let begins = event_type == kind.creation() && version == 1;
            let later = self.cut && event_type != kind.creation() && version > 1;
            let mut findings = Vec::new();
            if !begins && !later {
                let (told, creation) = (event_type.as_str(), kind.creation().as_str());
                let detail = format!(
                    "the history begins with {told} at version {version}, not with {creation} at version 1"
                );
                findings.push(Finding::new(FindingCode::VersionGap, id.as_str(), detail));
            }
            let first_sequence = (!later).then_some(sequence);
            let told =
                RecordFromEvents { kind, id, version, first_sequence, last_sequence: sequence, object };
            self.told.push(told);
            return findings;
        };
        let findings = check_next(told, event, event_type, version, &object);
        told.version = version;
        told.last_sequence = event.sequence;
        told.object = object;
        findings
    }

    /// The state after all events, for each record, and for the copies that the tenant got as a partner.
    #[must_use]
    pub fn end(self) -> (Vec<RecordFromEvents>, Option<ShareFromEvents>) {
        (self.told, self.share)
    }

    /// Whether the event is a copy of another merchant's, for the tenant as its partner.
    fn is_copy(&self, envelope: &Envelope) -> bool {
        let reader = &self.tenant.merchant_id;
        envelope.merchant.id != *reader
            && envelope.recipient.as_ref().is_some_and(|recipient| recipient.merchant.id == *reader)
    }

    /// Reads the envelope, which must agree with the columns, and checks that its record is the one that the event
    /// names.
    fn read(&self, event: &StoredEvent) -> Result<(EventType, Envelope), Box<Finding>> {
        let wrong = |what: &str| {
            let detail = format!("sequence {}: {what}", event.sequence);
            Box::new(Finding::new(FindingCode::EventInconsistent, event.id.as_str(), detail))
        };
        let envelope: Envelope =
            serde_json::from_str(&event.body).map_err(|_| wrong("the stored bytes are not an event"))?;
        let event_type = EventType::parse(&event.event_type).ok_or_else(|| wrong("the type is unknown"))?;
        let object = &envelope.data.object;
        let version = object.get("resource_version").and_then(Value::as_i64);
        let category = event_type.category();
        let id_member = match category {
            "order" => "order_number",
            "webhook" => "endpoint_id",
            _ => "id",
        };
        let copy = self.is_copy(&envelope);
        let of_share = envelope.recipient.as_ref().map(|recipient| recipient.share_id.as_str());
        let id = if copy { of_share } else { object.get(id_member).and_then(Value::as_str) };
        let agreements = [
            ("id", envelope.id == event.id),
            ("type", envelope.event_type == event.event_type),
            ("sequence", envelope.sequence == event.sequence),
            ("created_at", envelope.created_at == event.created_at),
            ("livemode", envelope.livemode == self.tenant.livemode),
            ("merchant", copy || envelope.merchant.id == self.tenant.merchant_id),
            ("resource_id", event.resource_id == self.resource_id),
            ("data.object", id == Some(self.resource_id.as_str())),
            ("resource_version", envelope.resource_version == version),
        ];
        match agreements.iter().find(|(_, agrees)| !agrees) {
            Some((member, _)) => Err(wrong(&format!("{member} contradicts the rest of the event"))),
            None => Ok((event_type, envelope)),
        }
    }
}

fn check_next(
    told: &RecordFromEvents,
    event: &StoredEvent,
    event_type: EventType,
    version: i64,
    object: &Value,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |code, detail| findings.push(Finding::new(code, told.id.as_str(), detail));
    let sequence = event.sequence;
    if version != told.version + 1 || event_type == told.kind.creation() {
        let detail = format!("version {version} ({}) follows version {}", event_type.as_str(), told.version);
        found(FindingCode::VersionGap, format!("sequence {sequence}: {detail}"));
    }
    let text = |record: &Value, member: &str| record.get(member).and_then(Value::as_str).map(str::to_owned);
    let (currency, currency_before) = (text(object, "currency"), text(&told.object, "currency"));
    if currency != currency_before {
        found(FindingCode::CurrencyDiffers, format!("sequence {sequence}: the currency changed"));
    }
    let (status, before) = (text(object, "status"), text(&told.object, "status"));
    let ended = before.as_deref().filter(|before| told.kind.is_terminal(before));
    let late = |record: &Value| record.get("late").and_then(Value::as_bool).unwrap_or(false);
    // Money that comes for a payment that was given up (contract 18.3).
    let came_late = ended == Some("cancelled") && status.as_deref() == Some("succeeded") && late(object);
    if late(&told.object) && !late(object) {
        found(FindingCode::LatePaymentDiffers, format!("sequence {sequence}: it is no longer late"));
    }
    if let Some(ended) = ended
        && status.as_deref() != Some(ended)
        && !came_late
    {
        let now = status.as_deref().unwrap_or("nothing");
        found(FindingCode::TerminalStateLeft, format!("sequence {sequence}: {ended} became {now}"));
    }
    findings
}
