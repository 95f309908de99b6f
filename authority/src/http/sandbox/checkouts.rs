//! Checkouts: opened, paid, ended (contract 6.3, 3.9 rows 1 to 6).

use authority_domain::checkout::CheckoutEnd;
use authority_domain::error_code::ErrorCode;
use authority_domain::id::CheckoutId;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{Segment, parsed};
use crate::app::sandbox::Owner;
use crate::http::entry::{AppState, Reply, merchant};
use crate::http::operation::{Operation, created, ok};
use crate::http::routes::Routes;

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
        .add(&OPEN, checkout_open)
        .add(&PAY, checkout_pay)
        .add(&CANCEL, checkout_cancel)
        .add(&EXPIRE, checkout_expire)
}

async fn checkout_open(State(state): State<AppState>, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (who, mutation, body) = entered.write()?;
        app.sandbox_checkout_open(Owner::of(&who), mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn checkout_pay(State(state): State<AppState>, checkout: Segment, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (who, mutation, body) = entered.write()?;
        let id = parsed(checkout, CheckoutId::parse);
        app.sandbox_checkout_pay(Owner::of(&who), mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn checkout_cancel(State(state): State<AppState>, checkout: Segment, request: Request) -> Response {
    checkout_end(state, checkout, CheckoutEnd::Cancelled, request).await
}

async fn checkout_expire(State(state): State<AppState>, checkout: Segment, request: Request) -> Response {
    checkout_end(state, checkout, CheckoutEnd::Expired, request).await
}

async fn checkout_end(state: AppState, checkout: Segment, how: CheckoutEnd, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (who, mutation, body) = entered.write()?;
        let id = parsed(checkout, CheckoutId::parse);
        app.sandbox_checkout_end(Owner::of(&who), mutation, id, how, body).await.map(Reply::Answer)
    })
    .await
}
