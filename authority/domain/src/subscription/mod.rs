//! Subscriptions: terms, calendar, renewals and reports (contract 2.6, 3.8).

pub mod calendar;
mod periods;
mod record;
pub mod renewal;
mod report_request;
mod reported_items;
mod requests;
pub mod state_machine;

pub use calendar::Interval;
pub use record::{
    AnchoredSubscription, NewSubscription, PricedItems, Subscription, SubscriptionCancelReason,
    SubscriptionItem, SubscriptionStart, SubscriptionStatus, SubscriptionTerms,
};
pub use report_request::SubscriptionReportRequest;
pub use reported_items::ReportedItem;
pub use requests::SubscriptionRequest;
pub(crate) use requests::TermsRequest;
