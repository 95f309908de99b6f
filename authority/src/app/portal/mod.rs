//! What only the merchant portal needs of the use cases: its links and sessions ([`sessions`]), and reads that gather
//! one page ([`reads`]).
//!
//! Everything that a page changes goes through the use cases of the merchant API, with the portal session as the
//! author.

pub mod reads;
pub mod sessions;
