//! Consumers that keep a copy: checkpoints and the feed of changed orders (contract 4.11 to 4.13).

pub mod checkpoint;
pub mod order_feed;
mod requests;

pub use requests::{CheckpointRequest, read_reference};
