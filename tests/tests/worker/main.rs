//! The edge receiver in real workerd (contract 11), with real origins and a real authority behind it. One program,
//! because each links the whole workspace.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod claims;
mod faults;
mod flood;
mod hand_off;
mod hostile;
mod look_inside;
mod reconciliation;
mod vectors;

/// Where deliveries are sent to.
const PATH: &str = "/webhooks";
/// The answer to the first delivery of an event.
const OK: (u16, &str) = (200, "ok");
/// The answer to every further one.
const DUPLICATE: (u16, &str) = (200, "duplicate");
