//! What lists can be narrowed by (contract 4.5). Each parameter is declared once, in `all.rs`: its name, its meaning
//! and its type. The type says what the description shows, how the text is read, and how it stands in the filter to
//! which cursors are bound. Empty lists and `None` do not narrow.

mod all;
mod filter;
mod parameter;

pub use self::all::*;
pub use self::filter::{ListFilter, TakeParameter};
pub use self::parameter::{Form, Parameter, ParameterValue};
