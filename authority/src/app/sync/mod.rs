//! Consumers that keep a copy: the feed of changed orders, and checkpoints (contract 4.11, 4.12).

pub mod checkpoints;
pub mod order_feed;
