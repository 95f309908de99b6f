//! Refunds: requested, reported on, read (contract 3.6, 3.9, 4.8, 18.3).

pub mod create;
pub mod read;
pub mod reports;
