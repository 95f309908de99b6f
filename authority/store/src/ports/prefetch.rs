//! What a job declares before it runs.

use authority_domain::id::{CheckoutId, PaymentId};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::{KeyScope, MessageId};

/// What a job will read first, so that it can be read for all queued jobs together. The job may read anything else,
/// and need not read this.
#[derive(Clone, Debug)]
pub struct Prefetch {
    /// The merchant and mode it is about.
    pub tenant: Option<Tenant>,
    /// Its idempotency key.
    pub key: Option<(KeyScope, String)>,
    /// The records it is about.
    pub reads: Vec<FirstRead>,
    /// The time of the request.
    pub now: Timestamp,
}

/// A record that a job will read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstRead {
    /// A checkout of the job's tenant that is to be paid ([`super::Checkouts::checkout_to_pay`]).
    CheckoutToPay(CheckoutId),
    /// An earlier message of a processor ([`super::Payments::processor_report_get`]).
    Message(MessageId),
    /// A payment, with what stands around it ([`super::Payments::payment_find`]).
    Payment(PaymentId),
}
