//! Orders: ingested, read, changed, fulfilled (contract 3.1, 3.3, 4.1, 4.6, 4.13, 6.2).

pub mod changes;
pub mod external_references;
pub mod fulfillment;
pub mod ingest;
pub mod read;
