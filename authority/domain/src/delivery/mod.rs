//! Deliveries: attempts and their outcomes, retries and replays (contract 2.9, 7.2, 7.3).

pub mod outcome;
mod record;
mod replay_request;
pub mod retry;

pub use record::{Attempt, Delivery, DeliveryStatus, DeliveryWithAttempts, Trigger};
pub use replay_request::ReplayRequest;
