//! Partners: connections of two merchants, the orders that are shared on them, and those orders as the partner sees
//! them.

pub(crate) mod connections;
pub(crate) mod orders;
pub(crate) mod shares;
