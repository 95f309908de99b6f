//! The sandbox: request bodies, demonstration data, and the clock of test merchants (contract 6.3).

pub mod advances;
pub mod clock;
pub mod demo_story;
mod reports;
pub mod requests;
