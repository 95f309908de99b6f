//! The edge receiver: a Cloudflare Worker that a merchant deploys to receive signed events.
//!
//! One delivery, in order (`receive`):
//!
//! 1. [`admission`]: path, method, media type and declared size. Nothing is read yet.
//! 2. The body is read once, never more than the limit.
//! 3. `verify-core` verifies signature and envelope with the configured secrets ([`configuration`]) at the time
//!    that [`clock`] tells.
//! 4. `dedup`: Workers KV is asked for `evt:<id>`. A hit is a certain duplicate, because such a record is only
//!    ever written after a claim. A miss means nothing: KV is eventually consistent and has no insert-if-absent.
//! 5. `inbox`: the Durable Object that owns the id's [`shard`] inserts the event under a uniqueness
//!    constraint. This decides between first and duplicate, and makes the event durable (contract 11.2).
//! 6. After a first claim the KV record is written behind the answer. When that fails, or the Worker dies
//!    before it, the next duplicate takes the longer way through the object and gets the same answer.
//! 7. [`answer`]: the status and code of contract 11.1, and nothing else.
//!
//! The runtime is confined to `receive`, `dedup`, `inbox`, and the one function each of `clock`, `configuration`
//! and `binding` that reads a variable. What decides anything is a plain function, tested natively; the whole is
//! tested in workerd (`tests/tests/worker_*.rs`).
//!
//! Absent on purpose: a router, a framework, and any state outside of the Durable Object. No input is meant to
//! panic; should one do so nevertheless, the JavaScript around the module (written by `cargo xtask build`)
//! starts a fresh instance for the next request.

pub mod admission;
pub mod answer;
mod binding;
pub mod claim;
pub mod clock;
pub mod configuration;
mod dedup;
mod inbox;
mod receive;
pub mod record;
pub mod shard;
