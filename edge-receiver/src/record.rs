//! The record of an event in the inbox (contract 11.2), and the SQL that stores it.
//!
//! An event is recorded once, by an insert that the primary key decides: `RETURNING` yields a row for the one
//! request that inserted, and nothing for every other. The record starts as `received` with no attempt made;
//! the defaults of the table say so.
//!
//! The record is read from the verified body alone, so it cannot say anything else than what is stored.

use verify_core::event::Envelope;

/// Creates the table. `status` has the states of a record's life: taken in, being handed over, done, failed.
pub const CREATE_TABLE: &str = "\
CREATE TABLE IF NOT EXISTS events (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  created_at TEXT NOT NULL,
  merchant_id TEXT NOT NULL,
  livemode INTEGER CHECK (livemode IN (0, 1)),
  received_at INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'received' CHECK (status IN ('received', 'processing', 'processed', 'error')),
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  body BLOB NOT NULL
)";

/// Inserts a record; its parameters are the members of [`Record`] in their order. Yields one row when the id
/// was new and none when it was there already.
pub const INSERT: &str = "\
INSERT INTO events (id, type, created_at, merchant_id, livemode, received_at, body)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING
RETURNING id";

/// What is stored of an event when it is claimed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record<'b> {
    /// The event id, the primary key.
    pub id: &'b str,
    /// The event's type; it may be one that the catalog does not know.
    pub event_type: &'b str,
    /// When the event was created, as its body says (RFC 3339, milliseconds, UTC).
    pub created_at: &'b str,
    /// The merchant that the event belongs to.
    pub merchant_id: &'b str,
    /// Live or test traffic; `None` when the event does not say.
    pub livemode: Option<bool>,
    /// When the inbox took the event in, Unix milliseconds.
    pub received_at_ms: u64,
    /// The exact bytes that were signed.
    pub body: &'b [u8],
}

impl<'b> Record<'b> {
    /// The record of a verified event that arrives at `received_at_ms` (Unix milliseconds).
    #[must_use]
    pub fn new(envelope: &'b Envelope<'b>, received_at_ms: u64) -> Self {
        Self {
            id: &envelope.id,
            event_type: &envelope.event_type,
            created_at: &envelope.created_at,
            merchant_id: &envelope.merchant_id,
            livemode: envelope.livemode,
            received_at_ms,
            body: envelope.text.as_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use verify_core::event;

    use super::*;

    #[test]
    fn a_record_says_what_the_body_says() {
        let body = br#" {"id":"evt_1","type":"order.conf\u0069rmed","api_version":"2026-09-01",
            "created_at":"2026-09-01T12:00:00.000Z","livemode":false,
            "merchant":{"id":"mer_7","slug":"a"},"data":{"object":{}}} "#;
        let envelope = event::read(body).unwrap();
        let expected = Record {
            id: "evt_1",
            event_type: "order.confirmed",
            created_at: "2026-09-01T12:00:00.000Z",
            merchant_id: "mer_7",
            livemode: Some(false),
            received_at_ms: 5,
            body,
        };
        assert_eq!(Record::new(&envelope, 5), expected);
    }
}
