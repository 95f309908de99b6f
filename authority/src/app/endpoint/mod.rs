//! Webhook endpoints: those of merchants, and the platform's own (contract 4.10, 6.2, 7.5).

pub(crate) mod all_of_merchant;
pub mod changes;
pub(crate) mod client_certificate;
pub mod merchant;
pub mod operator;
pub mod secrets;
pub mod sink;
pub(crate) mod url_check;
