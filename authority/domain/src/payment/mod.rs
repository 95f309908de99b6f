//! Payments and what processors report of them (contract 2.3, 3.5, 18.3).

pub mod flow;
pub mod method;
mod record;
pub mod report;
pub(crate) mod requests;

pub use method::{CaptureMethod, Method, MethodType, Processor};
pub use record::{NewPayment, Payment, PaymentStatus, PaymentTarget};
pub use report::{PaymentOutcome, PaymentReport};
pub use requests::{PaymentReportRequest, PaymentRequest};
