//! Webhook endpoints: those of merchants, and the platform's own (contract 4.10, 6.2, 7.5).

mod all_of_merchant;
pub mod changes;
mod client_certificate;
pub mod merchant;
pub mod operator;
pub mod secrets;
pub mod sink;
mod test_event;
mod url_check;

#[cfg(feature = "schema")]
pub(in crate::app) use test_event::TestRequested;
