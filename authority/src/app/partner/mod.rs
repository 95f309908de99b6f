//! Partners: connections and shared orders (contract 4.14).

pub mod connections;
pub mod share_ends;
pub mod shares;
