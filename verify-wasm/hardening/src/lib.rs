//! Hostile inputs for `verify-core`, and what must hold for every one of them.
//!
//! [`Delivery`] makes a delivery of any bytes: an event that is nearly right, signed, tampered with here and there,
//! in front of a receiver that is configured in one way or another. Bytes of a fuzzer lead to deliveries that
//! reach new code; bytes of a seeded generator to as many as are asked for, the same each time.
//!
//! Two users:
//!
//! - [`targets`]: the fuzz targets. `cargo xtask fuzz` runs them under libFuzzer; an ordinary test runs them
//!   over the seed corpus in `tests/corpus`.
//! - `examples/deliveries.rs` writes deliveries with their native verdicts, for `pkg/test/differential.test.mjs` to
//!   try in Node and workerd.
//!
//! Every verdict is compared with the independent one of `verify-reference`. Nothing that is shipped uses this crate.

mod delivery;
mod event;
mod json;
mod mutation;
mod pick;
mod signature;
pub mod targets;

pub use delivery::{Body, Delivery};
