//! Storage of the commerce authority: ports, and the SQL behind them.
//!
//! A use case hands the [`Store`] a job; the job runs inside one transaction and speaks to the [`ports::Tx`] it is
//! given. Writing jobs that wait at the same time share a transaction, in which each fails alone, and every one of
//! them is answered only after the commit (`writer`, contract 12 T1). Database work never runs inside the future of
//! the request that asked for it (T10).
//!
//! The SQL of an aggregate stands once, in `sql/`, and is compiled for each database; what differs between databases
//! stands in that database's own module. SQLite is the embedded default; PostgreSQL serves several instances.
//!
//! Beside it, and sharing nothing with it, the [`inbox`] is the receiver's own database.

#![expect(clippy::duplicate_mod, reason = "one text of the SQL, compiled for each database")]

pub mod commit;
mod error;
pub mod hand_off;
pub mod inbox;
mod inspect;
mod migrations;
mod partner_copies;
pub mod ports;
mod postgres;
mod queue;
pub mod slots;
mod sqlite;
mod store;
mod unfinished;
mod writer;

pub use error::{Constraint, StoreError};
pub use inspect::Inspection;

pub use store::{Access, ReaderCount, ServerUrl, Store, StoreUrl};
pub use writer::JobError;
