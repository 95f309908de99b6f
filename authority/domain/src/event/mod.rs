//! Events and the changes that they report (contract 2.1, 3.9, 3.10).

pub mod cause;
pub mod change;
pub mod partner_copy;
mod record;

#[cfg(feature = "schema")]
pub use record::envelope_schema;
pub use record::{NewEvent, Recipient, RecipientType};
