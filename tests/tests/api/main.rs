//! What is asked of the service over HTTP, and what it answers and tells (contract 1 to 6, 15, 16, 18), beyond the
//! acceptance checks. One program, because each links the whole workspace.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod answers;
mod endpoints;
mod fulfillment;
mod fulfillment_requests;
mod operator;
mod order_of_checks;
mod orders;
mod partners;
mod refunds;
mod sandbox;
mod sequences;
mod subscriptions;
mod sync;
