//! Reading request bodies: each reader names every member once, with its rule, and collects every error
//! (contract 4.2 row 15). Readers look at the body alone. What depends on a stored record is checked by the transition.

mod canonical_json;
mod errors;
mod field;
mod member_rules;
mod members;
pub(crate) mod occurrence;
pub mod party_name;
pub(crate) mod reason;
pub(crate) mod shape;
pub(crate) mod shared_members;
pub mod strict_json;
mod web_url;

pub use errors::Checked;
pub(crate) use errors::{text_of, wrong};
pub use field::Field;
pub use member_rules::{Text, integer, one_of};
pub use members::{Members, read};
pub use reason::{read_optional_reason, read_reason};
pub use web_url::Loopback;
