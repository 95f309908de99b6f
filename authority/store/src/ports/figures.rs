//! Figures over everything, for those who run the service (contract 6.2, 15.11).

use async_trait::async_trait;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// What waits to be delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueFigures {
    /// Deliveries that have not ended.
    pub pending: i64,
    /// Of these, those whose time has come, the ones in flight among them.
    pub due: i64,
    /// Deliveries that somebody is attempting.
    pub leased: i64,
    /// Since when the oldest of those that are due has been.
    pub oldest_due_at: Option<Timestamp>,
}

/// Figures.
#[async_trait]
pub trait Figures {
    /// What waits at `now`, of each endpoint up to 10,000: it costs the same beside millions that wait or have ended.
    async fn queue_figures(&mut self, now: Timestamp) -> Result<QueueFigures, StoreError>;

    /// Since when the oldest delivery has been due that nobody sees to: of an enabled endpoint to which nothing is in
    /// flight. A slow receiver has something in flight as long as workers run, and so keeps nobody from being ready.
    async fn oldest_unattended(&mut self, now: Timestamp) -> Result<Option<Timestamp>, StoreError>;

    /// Whether the schema is still the one this program knows: a newer program may have migrated it meanwhile.
    async fn schema_is_known(&mut self) -> Result<bool, StoreError>;

    /// Writes, for the sake of writing: fails while the disk is full or the database is read-only.
    async fn write_probe(&mut self, now: Timestamp) -> Result<(), StoreError>;

    /// How many endpoints there are in each state of health, and `disabled`.
    async fn endpoint_states(&mut self) -> Result<Vec<(String, i64)>, StoreError>;
}
