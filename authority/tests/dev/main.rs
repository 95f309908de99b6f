//! `authority dev` through its front door: the real binary in real directories (contract 16).

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod once;
mod process;
mod refusals;
mod staying_up;
