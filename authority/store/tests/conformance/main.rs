//! The store on both databases: every case of the conformance suite on real files and on a real server, what only one
//! of them has, and the receiver's inbox. One program, so that the cases are compiled once.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests")]

mod cases;
mod citus;
mod inbox;
mod postgres;
mod shards;
mod sqlite;
