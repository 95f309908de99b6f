//! Reading the event history (contract 4.9, 6.2, 8).

pub mod merchant;
pub mod operator;
