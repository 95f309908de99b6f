//! The edge receiver: a Cloudflare Worker that a merchant deploys to receive signed events.
//!
//! One delivery, in order:
//!
//! 1. `entry`: is there such a path ([`head`]). `receive`: method, media type, coding and declared size are judged as
//!    by every receiver (`verify_core::receiver`). Nothing is read yet.
//! 2. The body is read once, never more than the limit.
//! 3. `verify-core` verifies signature and envelope with the configured secrets ([`configuration`]) at the time
//!    that `clock` tells.
//! 4. `intake`: KV (`dedup`) may know a duplicate; else the [`inbox`] that owns the id's [`shard`] inserts the event
//!    under a uniqueness constraint. This decides between first and duplicate, and makes the event durable
//!    (contract 11.2).
//! 5. [`answer`]: the status and code of contract 11.1, and nothing else.
//!
//! Behind the answer, when the inbox's alarm rings: `inbox::hand_off` brings each recorded event to its [`sink`] until
//! it is taken, and removes records that have become too old.
//!
//! Beside the deliveries: the cron trigger runs [`reconciliation`], which brings in what they missed, and `look_inside`
//! shows those who have the token ([`admin`]) how all of this stands.
//!
//! A request's future is `driven` by the JavaScript around the module, and what it asks of the runtime is gathered in
//! `runtime`: every call between the two costs, and here each was measured (`bench/README.md`).
//!
//! The runtime is confined to modules that are there for WebAssembly alone. What decides anything is a plain function
//! in the others, tested natively; the whole is tested in workerd (`tests/tests/worker`).
//!
//! Absent on purpose: a router, a framework, and any state outside of the Durable Objects. No input is meant to
//! panic; should one do so nevertheless, the JavaScript around the module (written by `cargo xtask build`)
//! starts a fresh instance for the next request.

pub mod admin;
#[cfg(target_family = "wasm")]
mod allocator;
pub mod answer;
#[cfg(target_family = "wasm")]
mod binding;
#[cfg(target_family = "wasm")]
mod clock;
pub mod configuration;
#[cfg(target_family = "wasm")]
mod dedup;
#[cfg(target_family = "wasm")]
mod driven;
#[cfg(target_family = "wasm")]
mod entry;
pub mod head;
pub mod inbox;
#[cfg(target_family = "wasm")]
mod intake;
#[cfg(target_family = "wasm")]
mod js;
#[cfg(target_family = "wasm")]
mod look_inside;
#[cfg(target_family = "wasm")]
mod receive;
pub mod reconciliation;
#[cfg(target_family = "wasm")]
mod runtime;
#[cfg(target_family = "wasm")]
mod settings;
pub mod shard;
pub mod sink;
