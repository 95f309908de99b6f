//! TODO partner

pub(crate) mod connections;
pub(crate) mod orders;
pub(crate) mod shares;
