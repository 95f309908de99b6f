//! Checkouts (contract 3.4, 6.2).

use authority_domain::{CheckoutEnd, ErrorCode, OperatorScope};

use super::Routes;
use crate::app::checkout::end::CheckoutAction;
use crate::http::{Operation, created, ok};

const OPEN: Operation =
    Operation::post("/merchants/{merchant}/{mode}/checkouts", "checkouts.open")
        .summary("Open a checkout.")
        .operator(&[OperatorScope::OperatorWrite])
        .body(
            "CheckoutRequest",
            r#"{"currency":"USD","line_items":[{"sku":"TSHIRT-M","name":"T-shirt","quantity":2,"unit_amount":2400}],"shipping":500}"#,
        )
        .answers(&[created("Checkout", "The checkout.").tagged()])
        .refuses(&[ErrorCode::MerchantEnded]);

const GET: Operation = Operation::get("/checkouts/{checkout}", "checkouts.get")
    .summary("Read a checkout.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("Checkout", "The checkout.").conditional()]);

const CANCEL: Operation = Operation::post("/checkouts/{checkout}/cancel", "checkouts.cancel")
    .summary("Cancel a checkout.")
    .details("Its open payment is cancelled.")
    .operator(&[OperatorScope::OperatorWrite])
    .if_match("checkout")
    .optional_body("NoMembers", "{}")
    .answers(&[ok("Checkout", "The checkout as it ended.").tagged()])
    .refuses(&[ErrorCode::InvalidStateTransition]);

const EXPIRE: Operation = Operation::post("/checkouts/{checkout}/expire", "checkouts.expire")
    .summary("Expire a checkout early.")
    .details("Its open payment is cancelled.")
    .operator(&[OperatorScope::OperatorWrite])
    .if_match("checkout")
    .optional_body("NoMembers", "{}")
    .answers(&[ok("Checkout", "The checkout as it ended.").tagged()])
    .refuses(&[ErrorCode::InvalidStateTransition]);

const COMPLETE: Operation = Operation::post("/checkouts/{checkout}/complete", "checkouts.complete")
    .summary("Complete a checkout whose total is zero.")
    .operator(&[OperatorScope::OperatorWrite])
    .if_match("checkout")
    .optional_body("NoMembers", "{}")
    .answers(&[ok("Checkout", "The completed checkout.").tagged()])
    .refuses(&[ErrorCode::InvalidStateTransition, ErrorCode::MerchantEnded]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .write(&OPEN, async |app, _, mutation, tenant| app.checkout_open(mutation, tenant).await)
        .read(&GET, async |app, _, id| app.checkout_get(id).await)
        .write(&CANCEL, async |app, _, mutation, id| {
            let how = CheckoutAction::End(CheckoutEnd::Cancelled);
            app.checkout_end(mutation, id, how).await
        })
        .write(&EXPIRE, async |app, _, mutation, id| {
            let how = CheckoutAction::End(CheckoutEnd::Expired);
            app.checkout_end(mutation, id, how).await
        })
        .write(&COMPLETE, async |app, _, mutation, id| {
            app.checkout_end(mutation, id, CheckoutAction::Complete).await
        })
}
