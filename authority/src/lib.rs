//! The commerce authority: the merchant and operator APIs, the durable event outbox and its signed delivery.
//!
//! The library holds everything; the binary `authority` only calls [`cli`].

pub mod app;
pub mod background;
pub mod cli;
mod client_certificate;
pub mod clock;
pub mod config;
pub mod console;
mod dev;
pub mod dice;
pub mod dispatch;
mod documentation;
pub mod http;
pub mod metrics;
pub mod names;
mod pages;
pub mod portal;
pub mod reload;
pub mod secret_box;
pub mod service;
pub mod telemetry;
pub mod traces;
