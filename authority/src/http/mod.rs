//! The HTTP layer: everything about HTTP, and nothing about orders or events.
//!
//! [`server`] accepts connections and bounds what a peer can hold. [`answer`] wraps the routers: every request
//! gets an id, every answer its headers, every refusal its problem body, every panic a 500. Handlers then read, in
//! the order of contract 4.2: the credential ([`bearer`]), the rate ([`rate_limit`]), the body's size and type
//! ([`body`]), the conditions ([`idempotency_key`], [`if_match`], [`if_none_match`]), the query ([`query`],
//! `list_query`), the names in the path (`path`); they answer lists with `page`. What each operation needs and
//! answers is declared beside its handler ([`operation`]), and [`routes`] adds both to the router together.

pub mod answer;
pub mod at_once;
pub mod bearer;
pub mod body;
pub mod brand;
pub mod client_address;
pub mod documents;
pub mod entry;
pub mod idempotency_key;
pub mod if_match;
pub mod if_none_match;
mod list_query;
pub mod live;
mod media_type;
pub mod merchant;
pub mod operation;
pub mod operator;
mod page;
mod path;
pub mod problem;
pub mod query;
pub mod rate_limit;
mod reply;
pub mod request_id;
pub mod routes;
pub mod sandbox;
pub mod server;
mod token_buckets;
pub mod trace_context;
pub mod unsent;

pub use self::entry::{AppState, StateParts};
pub use self::operation::Operation;
use self::operation::{accepted, created, ok, page};
pub use self::routes::Routes;
