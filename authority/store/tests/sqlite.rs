//! The store on SQLite: every case of the conformance suite on a real file, and what only SQLite has.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests")]

mod conformance;
mod sqlite_file;

conformance!(sqlite_file::SqliteFile);
