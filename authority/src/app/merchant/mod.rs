//! Merchants and keys, as the operator manages them (contract 2.11, 2.16, 6.2).

pub mod keys;
pub mod manage;
pub mod operator_keys;
