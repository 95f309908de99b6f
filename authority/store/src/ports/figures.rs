//! Figures over the whole database, for the operators of the service (contract 6.2, 15.11).

use async_trait::async_trait;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// The delivery backlog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueFigures {
    /// Deliveries that have not ended.
    pub pending: i64,
    /// Of these, the due ones, including those in flight.
    pub due: i64,
    /// Deliveries that are leased.
    pub leased: i64,
    /// Since when the oldest due delivery has been due.
    pub oldest_due_at: Option<Timestamp>,
}

/// Figures.
#[async_trait]
pub trait Figures {
    /// The backlog at `now`, counted up to 10,000 of each endpoint, so that the cost does not grow with the millions
    /// that are pending or have ended.
    async fn queue_figures(&mut self, now: Timestamp) -> Result<QueueFigures, StoreError>;

    /// Since when the oldest unattended delivery has been due: one of an enabled endpoint that has nothing in flight.
    /// A slow receiver has something in flight as long as workers run, so it does not make an instance unready.
    async fn oldest_unattended(&mut self, now: Timestamp) -> Result<Option<Timestamp>, StoreError>;

    /// Whether this program still works with the schema: a newer program may have migrated it meanwhile.
    async fn schema_fits(&mut self) -> Result<bool, StoreError>;

    /// Writes in order to test writing: fails while the disk is full or the database is read-only.
    async fn write_probe(&mut self, now: Timestamp) -> Result<(), StoreError>;

    /// The number of endpoints in each state of health, and of `disabled` ones.
    async fn endpoint_states(&mut self) -> Result<Vec<(String, i64)>, StoreError>;
}
