//! The dispatcher: sends deliveries to receivers (contract 7).
//!
//! A due delivery waits in the `queue` for a slot; `sender` then signs it and hands it to a [`transport`]. The
//! transport that sends is [`client`], which makes exactly one attempt: `pool` keeps and shares connections,
//! [`connector`] resolves the host, judges every address and connects to one that was allowed, `tls` says which
//! certificates to trust, [`identity`] which one is shown, and `response` reads the part of the answer that is used.
//! The result is an outcome, never an error: everything a receiver can do is an ordinary result. `settle` records it
//! in batches, together with what it says about the endpoint (`verdict`); what has to wait for somebody else's turn is
//! written beside them (`late`).

mod attempts;
pub mod client;
mod connection_count;
pub mod connector;
pub mod engine;
mod exchange;
pub mod identity;
mod late;
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
