//! Checkouts (contract 3.4, 6.2).

use authority_domain::checkout::CheckoutEnd;
use authority_domain::error_code::ErrorCode;
use authority_domain::id::CheckoutId;
use authority_domain::merchant::scope::OperatorScope;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{Segment, TenantSegments, parsed, tenant};
use crate::app::checkout::end::CheckoutAction;
use crate::http::entry::{AppState, Reply, operator};
use crate::http::operation::{Operation, created, ok};
use crate::http::routes::Routes;

const OPEN: Operation =
    Operation::post("/merchants/{merchant}/{mode}/checkouts", "checkouts.open", "Open a checkout.")
        .operator(&[OperatorScope::OperatorWrite])
        .body(
            "CheckoutRequest",
            r#"{"currency":"USD","line_items":[{"sku":"TSHIRT-M","name":"T-shirt","quantity":2,"unit_amount":2400}],"shipping":500}"#,
        )
        .answers(&[created("Checkout", "The checkout.").tagged()])
        .refuses(&[ErrorCode::MerchantEnded]);

const GET: Operation = Operation::get("/checkouts/{checkout}", "checkouts.get", "Read a checkout.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("Checkout", "The checkout.").conditional()]);

const CANCEL: Operation =
    Operation::post("/checkouts/{checkout}/cancel", "checkouts.cancel", "Cancel a checkout.")
        .details("Its open payment is cancelled.")
        .operator(&[OperatorScope::OperatorWrite])
        .if_match("checkout")
        .optional_body("NoMembers", "{}")
        .answers(&[ok("Checkout", "The checkout as it ended.").tagged()])
        .refuses(&[ErrorCode::InvalidStateTransition]);

const EXPIRE: Operation =
    Operation::post("/checkouts/{checkout}/expire", "checkouts.expire", "Expire a checkout early.")
        .details("Its open payment is cancelled.")
        .operator(&[OperatorScope::OperatorWrite])
        .if_match("checkout")
        .optional_body("NoMembers", "{}")
        .answers(&[ok("Checkout", "The checkout as it ended.").tagged()])
        .refuses(&[ErrorCode::InvalidStateTransition]);

const COMPLETE: Operation = Operation::post(
    "/checkouts/{checkout}/complete",
    "checkouts.complete",
    "Complete a checkout whose total is zero.",
)
.operator(&[OperatorScope::OperatorWrite])
.if_match("checkout")
.optional_body("NoMembers", "{}")
.answers(&[ok("Checkout", "The completed checkout.").tagged()])
.refuses(&[ErrorCode::InvalidStateTransition, ErrorCode::MerchantEnded]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .add(&OPEN, checkout_open)
        .add(&GET, checkout_get)
        .add(&CANCEL, checkout_cancel)
        .add(&EXPIRE, checkout_expire)
        .add(&COMPLETE, checkout_complete)
}

async fn checkout_open(
    State(state): State<AppState>,
    segments: TenantSegments,
    request: Request,
) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.checkout_open(mutation, tenant(segments), body).await.map(Reply::Answer)
    })
    .await
}

async fn checkout_get(State(state): State<AppState>, checkout: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        entered.query.finish()?;
        app.checkout_get(parsed(checkout, CheckoutId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn checkout_cancel(State(state): State<AppState>, checkout: Segment, request: Request) -> Response {
    let action = CheckoutAction::End(CheckoutEnd::Cancelled);
    end(state, action, checkout, request).await
}

async fn checkout_expire(State(state): State<AppState>, checkout: Segment, request: Request) -> Response {
    let action = CheckoutAction::End(CheckoutEnd::Expired);
    end(state, action, checkout, request).await
}

async fn checkout_complete(State(state): State<AppState>, checkout: Segment, request: Request) -> Response {
    end(state, CheckoutAction::Complete, checkout, request).await
}

async fn end(state: AppState, action: CheckoutAction, checkout: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        let checkout = parsed(checkout, CheckoutId::parse);
        app.checkout_end(mutation, checkout, action, body).await.map(Reply::Answer)
    })
    .await
}
