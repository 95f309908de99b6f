//! The core in WebAssembly: `verify-core` behind functions that JavaScript can call with numbers alone.
//!
//! This crate forwards and decides nothing. The npm package (`pkg/src/core.ts`) writes a delivery into the module's
//! memory, at the places that `memory::Place` names: the prepared states of the receiver's secrets, the timestamp,
//! a full stop, the body, and behind it the signature and the event id. It says how long each part is and gets a
//! small number back: 0, or that of a code. What a function has to tell beyond that it writes into the exchange area.
//! No object lives here from one call to the next: verifiers are objects of JavaScript, which keeps their states and
//! puts them in place.
//!
//! The order of timestamp, full stop and body is that of the signed text, and before it there is room for the pad of
//! a key: a host with a faster SHA-256 (Node) hashes all of it where it lies and leaves the digest in its place.
//!
//! Numbers cross as JavaScript numbers: ten-digit seconds are exact in a double (contract 10.1). The module imports
//! nothing. It is small because it leaves the standard library out and has no generated glue: only `core`, memory that
//! is given back after each call, and a panic that traps without a message. For other targets it is empty.

#![cfg(target_family = "wasm")]
#![no_std]

extern crate alloc;

mod delivery;
mod exports;
mod facts;
mod memory;
mod secrets;
