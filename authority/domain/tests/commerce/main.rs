//! The commerce of the domain as a whole: records, state machines and the events that tell of them, against the tables
//! of contract 2, 3 and 9. One binary, so that it is linked once.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests")]

mod checkout_transitions;
mod completion;
mod event_rendering;
mod event_sequences;
mod external_references;
mod fixtures;
mod fulfillment;
mod fulfillment_bodies;
mod fulfillment_status;
mod fulfillment_table;
mod ingest;
mod list_filters;
mod merchant_requests;
mod model;
mod operator_requests;
mod order_edits;
mod order_transitions;
mod partner_connections;
mod partner_views;
mod payment_machine;
mod payment_status;
mod refund_refusals;
mod refunds;
mod refused_bodies;
mod sandbox;
mod shipment_reports;
mod shipments;
mod subscription_beginnings;
mod subscription_fixtures;
mod subscription_founding;
mod subscription_machine;
mod subscription_renewals;
