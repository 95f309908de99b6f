//! Payments (contract 4.1, 4.5).

use authority_domain::Scope;
use authority_domain::list_filter::PaymentFilter;

use super::Routes;
use crate::http::{Operation, ok, page};

const LIST: Operation = Operation::get("/payments", "payments.list")
    .summary("List payments, newest first.")
    .scopes(&[Scope::PaymentsRead])
    .filter::<PaymentFilter>()
    .answers(&[page("Payment", "Payments.")]);

const GET: Operation = Operation::get("/payments/{payment}", "payments.get")
    .summary("Read a payment.")
    .scopes(&[Scope::PaymentsRead])
    .answers(&[ok("Payment", "The payment.").tagged()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, who, (), list, filter| app.payments_list(&who, &list, filter).await)
        .read(&GET, async |app, who, id| app.payment_get(&who, id).await)
}
