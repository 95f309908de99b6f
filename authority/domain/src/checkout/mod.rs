//! Checkouts: opened by the operator, paid, ended (contract 2.7, 3.4).

mod record;
mod requests;

pub use record::{Checkout, CheckoutEnd, CheckoutMode, CheckoutStatus, NewCheckout};
pub use requests::CheckoutRequest;
