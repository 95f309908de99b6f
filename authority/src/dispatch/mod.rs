//! Deliveries leave here (contract 7).
//!
//! A delivery that is due waits for a place (`queue`), is signed and handed to a [`transport`] (`sender`). The one that
//! sends is [`client`], which makes exactly one attempt: `pool` keeps and shares connections, [`connector`] resolves the
//! host, judges every address and connects to one that was judged, `tls` says whom to trust, and `response` reads as much
//! of the answer as means anything. What comes back is an outcome, never an error: everything a receiver can
//! do is an ordinary result that is recorded, with what it says of the endpoint (`verdict`), in batches (`settle`).

mod attempts;
pub mod client;
mod connection_count;
pub mod connector;
pub mod engine;
mod exchange;
mod pool;
mod queue;
mod response;
mod sender;
mod settle;
mod signing;
mod symptoms;
pub(crate) mod tls;
pub mod transport;
mod verdict;

pub(crate) use tls::root_count;
