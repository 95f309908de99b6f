//! How events reach their receivers, what happens when they do not, and how that is mended (contract 7, 15, 18.4),
//! beyond the acceptance checks and the faults. One program, because each links the whole workspace.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod client_certificate;
mod delivery;
mod egress;
mod giving_up;
mod hand_off;
mod hangups;
mod holding_back;
mod options;
mod outcomes;
mod private_networks;
mod repair;
mod retention;
mod standard_webhooks;
mod turns;
