//! Recoveries: what an endpoint missed, and the jobs that send it again (contract 15).

mod record;
mod request;
pub mod undelivered;

pub use record::{Recovery, RecoveryStatus};
pub use request::RecoveryRequest;
