//! Transitions: what the platform, its merchants and the processors do to records, and the events that tell of it
//! (contract 3.9).
//!
//! A transition is decided on several records: a refund changes its payment and is shown by its order. So transitions
//! stand above all records, each in the file of the record that the request is about. What a record can decide alone
//! (which report may follow which) is in that record's own folder. A transition returns
//! [`Change`](crate::event::change::Change)s in causal order, or none when everything is already as requested.

pub mod checkout;
pub mod external_references;
pub mod founding;
pub mod fulfillment;
pub mod further_payments;
pub mod order;
pub mod payment;
pub mod refund;
pub mod shipment;
pub mod subscription;
