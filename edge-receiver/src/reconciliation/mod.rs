//! Reconciliation: what deliveries missed is fetched from the API, through the same inbox (contract 11.2).
//!
//! The cron trigger wakes the one object of this class, which runs the catch-up loop of the brief:
//!
//! 1. It asks the API for the page behind its position, with the merchant's key ([`api`]).
//! 2. The page is taken apart; its events, each as it is written, go to the inboxes that own them ([`page`]). An inbox
//!    has an event or takes it in, and from there on it is handed over like one that was delivered. One that was
//!    created longer ago than claims are kept is not taken in: it may have been handed over and forgotten.
//! 3. When all are durable, the position moves behind the page ([`progress`], [`position`]), and so on to the end.
//!
//! Whatever fails in between, the position stays and the next run begins there: events that were taken in already are
//! duplicates then. What failed is a code of a closed list ([`trouble`]) in the report ([`report`]), which the log and
//! `GET /health` show. A position that the API has forgotten (410) is reported at every run and never skipped: whether
//! to start over is for a person to say.
//!
//! One object, because two runs at once would do the same work twice; it would harm nobody, as claims decide and the
//! position moves only from where a run began. One run does a bounded number of pages in a bounded time, well within
//! what a Worker may ask of others; the next goes on.
//!
//! Deliberately absent: filters, a list of what is missing, and KV records, which only spare duplicates a way.

pub mod api;
#[cfg(target_family = "wasm")]
mod object;
pub mod page;
pub mod position;
pub mod progress;
pub mod report;
#[cfg(target_family = "wasm")]
mod run;
pub mod trouble;

#[cfg(target_family = "wasm")]
pub(crate) use object::{Command, configured, tell};
