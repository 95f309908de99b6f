//! Storage of the commerce authority.
//!
//! A use case gives the [`Store`] a job. The job runs inside one transaction and uses the [`tx::Tx`] that it is given.
//! Writing jobs that are queued at the same time share a transaction, in which each fails alone, and each is answered
//! only after the commit (`writer`, contract 12 T1). Database work never runs inside the future of the request that
//! asked for it (T10).
//!
//! The SQL of an aggregate is written once, in its room of `sql/`, over the connection of either database (`driver`).
//! What they say differently is in the database's own module. SQLite is the embedded default; PostgreSQL serves several
//! instances.
//!
//! Separate from it, and sharing nothing with it, the [`inbox`] is the receiver's own database.

mod batches;
pub mod claims;
pub mod commit;
mod driver;
mod error;
pub mod hand_off;
pub mod inbox;
mod inspect;
mod job;
mod migrations;
mod partner_copies;
mod postgres;
mod queue;
mod readers;
pub mod shards;
pub mod slots;
mod sql;
mod sqlite;
mod store;
mod store_url;
pub mod supervisor;
pub mod tx;
mod writer;
mod writing_connection;

pub use error::{Constraint, Result, StoreError};
pub use inspect::Inspection;

pub use job::{JobError, Work};
pub use postgres::Distribution;
pub use readers::ReaderCount;
pub use store::Store;
pub use store_url::{Access, ServerUrl, StoreUrl};
