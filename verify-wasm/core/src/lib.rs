//! What a sender and a receiver of webhook deliveries must agree on, in one place.
//!
//! The authority signs with this crate; the npm package (through WebAssembly), the edge receiver and
//! `authority verify` verify with it. So two sides cannot read a rule differently: there is one reader.
//!
//! A delivery is a body and four headers ([`header`]); some have three more, for the public libraries of another
//! standard ([`standard_webhooks`]). The sender prepares a [`Secret`] and writes [`sign::signature_header`] over
//! `timestamp.body`. The receiver prepares a [`Verifier`] once and asks [`Verifier::verify`] for every request: cheap
//! header checks first, then one HMAC per secret, and only when a signature holds does [`event::read`] look at the
//! JSON text. The answer is an [`Envelope`] that borrows from the body, or one of fifteen [`VerificationCode`]s, the
//! first that applies in the order of contract 10.2.
//!
//! Deliberately absent: a clock (`now` is passed in), randomness (random bytes are passed in), I/O, global
//! state, a document tree, and panics. The crate is `no_std` with `alloc` and builds for
//! `wasm32-unknown-unknown`.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod base62;
mod base64;
pub mod catalog;
pub mod code;
pub mod configuration;
pub mod event;
pub mod event_list;
pub mod header;
pub mod id;
pub mod json;
pub mod mac;
pub mod profile;
pub mod receiver;
pub mod secret;
pub mod sign;
pub mod standard_webhooks;
pub mod verify;

pub use catalog::{API_VERSION, CONTRACT_VERSION, EventType};
pub use code::VerificationCode;
pub use configuration::{BodyLimit, ConfigError, Tolerance};
pub use event::Envelope;
pub use profile::Profile;
pub use receiver::Verdict;
pub use secret::{Secret, UnusableSecret};
pub use verify::{Claim, Headers, Verifier};
