//! Deliveries: attempts and their outcomes, retries, replays and recoveries (contract 2.9, 7.2, 7.3, 15).

pub mod integration_health;
pub mod outcome;
mod record;
pub mod recovery;
mod recovery_request;
mod replay_request;
pub mod retry;
pub mod undelivered;

pub use record::{Attempt, Delivery, DeliveryStatus, DeliveryWithAttempts, Trigger};
pub use recovery_request::RecoveryRequest;
pub use replay_request::ReplayRequest;
