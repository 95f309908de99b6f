//! The rules of verification, held to the contract: tables for its tables, properties for its rules.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, helpers included"
)]

mod beside_parser;
mod catalog;
mod delivery;
mod differential;
mod event_list;
mod golden;
mod headers;
mod ids;
mod json_structure;
mod json_text;
mod mac;
mod members;
mod numbers;
mod optional_members;
mod precedence;
mod properties;
mod receiver;
mod standard_webhooks;
mod vectors;
