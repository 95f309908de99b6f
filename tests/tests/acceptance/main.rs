//! The acceptance checks of contract section 13, by number and name, each on both databases. What they have in common
//! with every user: they see the service through its sockets, its commands and its files alone.
//!
//! A12 to A18 belong to the delivery engine, A19 to partners, A21 and A24 to the verifier; they stand with those.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

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
mod a20_secrets;
mod a22_tolerance;
mod a23_limits;
