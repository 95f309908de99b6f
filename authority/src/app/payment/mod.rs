//! Payments: started, reported on, read (contract 2.3, 3.5, 3.9, 18.3).

pub mod create;
pub mod read;
pub mod reports;
