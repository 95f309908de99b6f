//! Deliveries: their outcome, replays, recoveries and the backlog (contract 2.9, 4.9, 15).

pub mod integration_health;
pub mod merchant;
pub mod operator;
pub mod outbox;
pub mod recovery;
pub mod recovery_steps;
pub mod replay;
pub mod undelivered;
