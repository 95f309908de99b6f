//! The commerce authority: the merchant and operator APIs, the durable event outbox and its signed delivery.
//!
//! The library holds everything; the binary `authority` only calls [`cli`].

pub mod app;
pub mod cli;
mod client_certificate;
pub mod clock;
pub mod config;
pub mod console;
mod dev;
pub mod dice;
pub mod dispatch;
mod documentation;
mod endpoint_upkeep;
pub mod housekeeping;
pub mod http;
pub mod instances;
pub mod metrics;
pub mod names;
pub mod recovery_worker;
pub mod reload;
pub mod retention;
pub mod scheduler;
pub mod secret_box;
pub mod service;
pub mod share_worker;
pub mod telemetry;
pub mod traces;
