//! Refunds: asked for, reserved, reported (contract 2.4, 3.6).

mod record;
mod requests;

pub use record::{
    NewRefund, Refund, RefundLine, RefundOutcome, RefundReason, RefundReport, RefundStatus, Requester,
    RequesterType,
};
pub use requests::RefundReportRequest;
