//! Refunds: asked for, reserved, reported (contract 2.4, 3.6).

pub mod flow;
mod record;
pub(crate) mod requests;

pub use record::{
    NewRefund, Refund, RefundLine, RefundReason, RefundReport, RefundStatus, Reported, Requester,
    RequesterType,
};
pub use requests::{RefundReportRequest, RefundRequest};
