//! Shipments: created, and reported on by carriers (contract 3.7, 3.9, 4.7, 6.2).

pub mod create;
pub mod reports;
