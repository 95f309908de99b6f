//! An event as the audit reads it.

use crate::id::EventId;
use crate::time::Timestamp;

/// An event as it is stored: the columns and the bytes.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the members are those of the table
pub struct StoredEvent {
    pub id: EventId,
    pub sequence: i64,
    pub event_type: String,
    pub resource_id: String,
    pub created_at: Timestamp,
    pub body: String,
}
