//! The operator's console and the merchant portal over HTTP, as a browser without JavaScript asks them (contract 20).
//! What a browser makes of the pages is asked in Chromium (`tests/openapi/console.test.mjs`).

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod actions;
mod browser;
mod deleting;
mod explain;
mod finding;
mod hostile;
mod late;
mod live;
mod missed;
mod moving;
mod pages;
mod paths;
mod portal;
mod refusals;
mod sessions;
