//! Payments (contract 4.1, 4.5).

use authority_domain::list_filter::PaymentFilter;
use authority_domain::merchant::scope::Scope;
use authority_domain::payment::PaymentStatus;
use authority_domain::refusal::Refusal;

use crate::app::access::Caller;
use crate::http::list_query::{flag, words};
use crate::http::operation::{self, Operation, ok, page, text, time};
use crate::http::query::Query;
use crate::http::routes::Routes;

const LIST: Operation = Operation::get("/payments", "payments.list", "List payments, newest first.")
    .scopes(&[Scope::PaymentsRead])
    .query(&[
        text("order_number", "Of this order."),
        operation::words::<PaymentStatus>("status", "With any of these statuses."),
        operation::flag("late", "Whether the money arrived after its checkout or order had ended."),
        time("created_from", "Created at this time or later."),
        time("created_to", "Created before this time."),
    ])
    .answers(&[page("Payment", "Payments.")]);

const GET: Operation = Operation::get("/payments/{payment}", "payments.get", "Read a payment.")
    .scopes(&[Scope::PaymentsRead])
    .answers(&[ok("Payment", "The payment.").tagged()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, filter, async |app, who: Caller, (), list, filter| {
            app.payments_list(&who, &list, filter).await
        })
        .read(&GET, async |app, who: Caller, id| app.payment_get(&who, id).await)
}

fn filter(query: &mut Query) -> Result<PaymentFilter, Refusal> {
    Ok(PaymentFilter {
        order_number: query.text("order_number")?,
        status: words::<PaymentStatus>(query, "status")?,
        late: flag(query, "late")?,
        created_from: query.time("created_from")?,
        created_to: query.time("created_to")?,
    })
}
