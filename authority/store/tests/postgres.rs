//! The store on PostgreSQL: every case of the conformance suite on a real server, and what only a server has.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests")]

mod conformance;
mod postgres_server;

conformance!(postgres_server::PostgresDatabase);
