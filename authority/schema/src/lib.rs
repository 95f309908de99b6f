//! JSON Schema of what the authority issues: every public record and every event, derived from the very structs that
//! are serialised (`authority-domain` with its feature `schema`).
//!
//! [`Schemas::of_everything`] collects the definitions. [`catalog`] says which record each event tells of, [`events`]
//! what an event of each type is. From these [`typescript`] writes the types of the npm package, which are committed,
//! because people read them; `cargo xtask codegen` runs it, and a test compares. No part of the service: nothing here
//! runs in production. Deliberately absent: a rule of its own. What a member is called, may be and means stands
//! beside the struct.

pub mod catalog;
pub mod events;
pub mod schemas;
pub mod typescript;

pub use schemas::Schemas;
