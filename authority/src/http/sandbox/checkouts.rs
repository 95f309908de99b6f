//! Checkouts: opened, paid, ended (contract 6.3, 3.9 rows 1 to 6).

use authority_domain::{CheckoutEnd, ErrorCode};

use super::Routes;
use crate::http::{Operation, created, ok};

const OPEN: Operation = Operation::post("/checkouts", "sandbox.checkouts.open")
    .summary("Open a checkout.")
    .sandbox()
    .body(
        "CheckoutRequest",
        r#"{"currency":"USD","line_items":[{"sku":"TSHIRT-M","name":"T-shirt","quantity":2,"unit_amount":2400}],"shipping":500}"#,
    )
    .answers(&[created("Checkout", "The checkout.").tagged()]);

const PAY: Operation = Operation::post("/checkouts/{checkout}/pay", "sandbox.checkouts.pay")
    .summary("Attempt to pay a checkout in full.")
    .sandbox()
    .if_match("checkout")
    .body("PayRequest", r#"{"outcome":"succeeded"}"#)
    .answers(&[created("Payment", "The payment after the attempt.").tagged()])
    .refuses(&[ErrorCode::InvalidStateTransition]);

const CANCEL: Operation = Operation::post("/checkouts/{checkout}/cancel", "sandbox.checkouts.cancel")
    .summary("Cancel a checkout.")
    .sandbox()
    .if_match("checkout")
    .optional_body("NoMembers", "{}")
    .answers(&[ok("Checkout", "The checkout as it ended.").tagged()])
    .refuses(&[ErrorCode::InvalidStateTransition]);

const EXPIRE: Operation = Operation::post("/checkouts/{checkout}/expire", "sandbox.checkouts.expire")
    .summary("Expire a checkout.")
    .sandbox()
    .if_match("checkout")
    .optional_body("NoMembers", "{}")
    .answers(&[ok("Checkout", "The checkout as it ended.").tagged()])
    .refuses(&[ErrorCode::InvalidStateTransition]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .write(&OPEN, async |app, who, mutation, ()| app.sandbox_checkout_open((&who).into(), mutation).await)
        .write(&PAY, async |app, who, mutation, id| {
            app.sandbox_checkout_pay((&who).into(), mutation, id).await
        })
        .write(&CANCEL, async |app, who, mutation, id| {
            app.sandbox_checkout_end((&who).into(), mutation, id, CheckoutEnd::Cancelled).await
        })
        .write(&EXPIRE, async |app, who, mutation, id| {
            app.sandbox_checkout_end((&who).into(), mutation, id, CheckoutEnd::Expired).await
        })
}
