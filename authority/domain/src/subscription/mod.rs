//! Subscriptions: terms, calendar, renewals and reports (contract 2.6, 3.8).

pub mod calendar;
pub mod flow;
pub mod founding;
pub(crate) mod periods;
mod record;
pub mod renewal;
pub(crate) mod report_request;
pub(crate) mod requests;

pub use calendar::Interval;
pub use record::{
    AnchoredSubscription, NewSubscription, PricedItems, Subscription, SubscriptionCancelReason,
    SubscriptionItem, SubscriptionStart, SubscriptionStatus, SubscriptionTerms,
};
pub use report_request::SubscriptionReportRequest;
pub use requests::SubscriptionRequest;
