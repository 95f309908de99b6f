//! The sandbox: request bodies and demonstration data (contract 6.3).

pub mod demo_story;
pub mod requests;
