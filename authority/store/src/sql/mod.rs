//! TODO

pub(crate) mod checkout;
pub(crate) mod delivery;
pub(crate) mod endpoint;
pub(crate) mod event;
pub(crate) mod idempotency;
pub(crate) mod inspect;
pub(crate) mod merchant;
pub(crate) mod operator;
pub(crate) mod order;
pub(crate) mod partner;
pub(crate) mod payment;
pub(crate) mod refund;
pub(crate) mod shipment;
pub(crate) mod subscription;
pub(crate) mod transaction;
