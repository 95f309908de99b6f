//! The durable inbox as the Worker sees it: who is first, what is recorded, and how it stands (contract 11.2).
//!
//! Sixteen Durable Objects (`object`) share the events by their ids ([`crate::shard`]). The Worker asks them by
//! requests ([`operation`]) that only it can send.
//!
//! The way in is `claim`, or `claim_all` for many: an event that was verified, or that came from the API itself,
//! becomes a record, once. From there the object hands it over by itself (`hand_off`). `summary`, `look_up` and
//! `retry` are for people who look after the receiver.

pub mod batch;
#[cfg(target_family = "wasm")]
mod client;
#[cfg(target_family = "wasm")]
mod hand_off;
#[cfg(target_family = "wasm")]
mod object;
pub mod operation;
pub mod schedule;
pub mod stored;
#[cfg(target_family = "wasm")]
mod table;

#[cfg(target_family = "wasm")]
pub(crate) use client::{claim, claim_all, look_up, retry, summary};
#[cfg(target_family = "wasm")]
pub(crate) use hand_off::within_deadline;
