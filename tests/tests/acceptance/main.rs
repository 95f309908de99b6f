//! The acceptance checks of contract section 13, by number and name, each on both databases. What they have in common
//! with every user: they see the service through its sockets, its commands and its files alone.
//!
//! Where a check is about times or about what names lead to, the service runs inside the test, which turns its clock
//! and answers for its names. A21 and A24 belong to the verifier and stand with that.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod a01_tenancy;
mod a02_scopes;
mod a03_errors;
mod a04_versions;
mod a05_canonical;
mod a06_refunds;
mod a07_idempotency;
mod a08_catalog;
mod a09_sequences;
mod a10_catch_up;
mod a11_cursors;
mod a12_classes;
mod a12_delivery;
mod a12_disabling;
mod a13_crash;
mod a14_rotation;
mod a15_addresses;
mod a16_replay;
mod a17_test_event;
mod a18_health;
mod a19_partners;
mod a20_secrets;
mod a22_tolerance;
mod a23_limits;
mod a23_pages;
