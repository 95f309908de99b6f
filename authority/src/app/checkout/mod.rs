//! Checkouts: opened, and ended without a payment (contract 3.4, 3.9, 6.2).

pub mod create;
pub mod end;
