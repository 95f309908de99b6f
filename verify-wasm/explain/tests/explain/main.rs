//! Explanations, held to what they are for: each cause is found when it is really the cause, and nothing is given away.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, helpers included"
)]

mod bodies;
mod case;
mod contents;
mod headers;
mod properties;
mod secrets;
mod table;
