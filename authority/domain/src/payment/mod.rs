//! Payments and what processors report of them (contract 2.3, 3.5, 18.3).

pub mod flow;
pub mod method;
mod record;
pub mod report;
pub(crate) mod requests;

pub use record::{
    CaptureMethod, Method, MethodType, NewPayment, Payment, PaymentReport, PaymentStatus, PaymentTarget,
    Processor, Reported,
};
pub use requests::{PaymentReportRequest, PaymentRequest};
