//! Checkouts: opened, paid, ended (contract 6.3, 3.9 rows 1 to 6).

use authority_domain::{CheckoutEnd, ErrorCode};

use crate::app::{Caller, Owner};
use crate::http::{Operation, Routes, created, ok};

const OPEN: Operation = Operation::post("/checkouts", "sandbox.checkouts.open", "Open a checkout.")
    .sandbox()
    .body(
        "CheckoutRequest",
        r#"{"currency":"USD","line_items":[{"sku":"TSHIRT-M","name":"T-shirt","quantity":2,"unit_amount":2400}],"shipping":500}"#,
    )
    .answers(&[created("Checkout", "The checkout.").tagged()]);

const PAY: Operation = Operation::post(
    "/checkouts/{checkout}/pay",
    "sandbox.checkouts.pay",
    "Attempt to pay a checkout in full.",
)
.sandbox()
.if_match("checkout")
.body("PayRequest", r#"{"outcome":"succeeded"}"#)
.answers(&[created("Payment", "The payment after the attempt.").tagged()])
.refuses(&[ErrorCode::InvalidStateTransition]);

const CANCEL: Operation =
    Operation::post("/checkouts/{checkout}/cancel", "sandbox.checkouts.cancel", "Cancel a checkout.")
        .sandbox()
        .if_match("checkout")
        .optional_body("NoMembers", "{}")
        .answers(&[ok("Checkout", "The checkout as it ended.").tagged()])
        .refuses(&[ErrorCode::InvalidStateTransition]);

const EXPIRE: Operation =
    Operation::post("/checkouts/{checkout}/expire", "sandbox.checkouts.expire", "Expire a checkout.")
        .sandbox()
        .if_match("checkout")
        .optional_body("NoMembers", "{}")
        .answers(&[ok("Checkout", "The checkout as it ended.").tagged()])
        .refuses(&[ErrorCode::InvalidStateTransition]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .write(&OPEN, async |app, who: Caller, mutation, ()| {
            app.sandbox_checkout_open(Owner::of(&who), mutation).await
        })
        .write(&PAY, async |app, who: Caller, mutation, id| {
            app.sandbox_checkout_pay(Owner::of(&who), mutation, id).await
        })
        .write(&CANCEL, async |app, who: Caller, mutation, id| {
            app.sandbox_checkout_end(Owner::of(&who), mutation, id, CheckoutEnd::Cancelled).await
        })
        .write(&EXPIRE, async |app, who: Caller, mutation, id| {
            app.sandbox_checkout_end(Owner::of(&who), mutation, id, CheckoutEnd::Expired).await
        })
}
