//! Deliveries: what became of them, replays, recoveries and what waits (contract 2.9, 4.9, 15).

pub mod integration_health;
pub mod merchant;
pub mod operator;
pub mod outbox;
pub mod recovery;
pub mod replay;
pub mod undelivered;
