//! Payments and what processors report of them (contract 2.3, 3.5, 18.3).

pub mod method;
mod record;
pub mod report;
mod requests;

pub use method::{CaptureMethod, Method, MethodType, Processor};
pub use record::{NewPayment, Payment, PaymentStatus, PaymentTarget};
pub use report::{PaymentOutcome, PaymentReport};
pub use requests::{PaymentReportRequest, PaymentRequest};
pub(crate) use requests::{read_method, read_processor};
