//! Payments (contract 4.1, 4.5).

use authority_domain::Scope;
use authority_domain::list_filter::PaymentFilter;

use crate::app::Caller;
use crate::http::{Operation, Routes, ok, page};

const LIST: Operation = Operation::get("/payments", "payments.list", "List payments, newest first.")
    .scopes(&[Scope::PaymentsRead])
    .filter::<PaymentFilter>()
    .answers(&[page("Payment", "Payments.")]);

const GET: Operation = Operation::get("/payments/{payment}", "payments.get", "Read a payment.")
    .scopes(&[Scope::PaymentsRead])
    .answers(&[ok("Payment", "The payment.").tagged()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, who: Caller, (), list, filter| app.payments_list(&who, &list, filter).await)
        .read(&GET, async |app, who: Caller, id| app.payment_get(&who, id).await)
}
