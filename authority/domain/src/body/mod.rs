//! Reading request bodies: each reader names every member once, with its rule, and collects every error
//! (contract 4.2 row 15). Readers look at the body alone. What depends on a stored record is checked by the transition.

pub(crate) mod common;
pub mod field;
pub mod member_rules;
pub mod members;
pub(crate) mod occurrence;
pub mod party_name;
pub(crate) mod reason;
pub mod strict_json;

pub use reason::{read_optional_reason, read_reason};
