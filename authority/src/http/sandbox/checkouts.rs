//! Checkouts: opened, paid, ended (contract 6.3, 3.9 rows 1 to 6).

use authority_domain::checkout::CheckoutEnd;
use authority_domain::id::CheckoutId;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::post;

use super::{Segment, parsed};
use crate::app::sandbox::Whose;
use crate::http::entry::{BodyRule, Reply, Roots, sandbox};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/checkouts", post(checkout_open))
        .route("/checkouts/{checkout}/pay", post(checkout_pay))
        .route("/checkouts/{checkout}/cancel", post(checkout_cancel))
        .route("/checkouts/{checkout}/expire", post(checkout_expire))
}

async fn checkout_open(State(roots): State<Roots>, request: Request) -> Response {
    sandbox(roots, "sandbox.checkouts.open", request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        app.sandbox_checkout_open(Whose::of(&who), mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn checkout_pay(State(roots): State<Roots>, checkout: Segment, request: Request) -> Response {
    sandbox(roots, "sandbox.checkouts.pay", request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        let id = parsed(checkout, CheckoutId::parse);
        app.sandbox_checkout_pay(Whose::of(&who), mutation, id, body).await.map(Reply::Answer)
    })
    .await
}

async fn checkout_cancel(State(roots): State<Roots>, checkout: Segment, request: Request) -> Response {
    checkout_end(roots, "sandbox.checkouts.cancel", checkout, CheckoutEnd::Cancelled, request).await
}

async fn checkout_expire(State(roots): State<Roots>, checkout: Segment, request: Request) -> Response {
    checkout_end(roots, "sandbox.checkouts.expire", checkout, CheckoutEnd::Expired, request).await
}

async fn checkout_end(
    roots: Roots,
    name: &'static str,
    checkout: Segment,
    how: CheckoutEnd,
    request: Request,
) -> Response {
    sandbox(roots, name, request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Optional)?;
        let id = parsed(checkout, CheckoutId::parse);
        app.sandbox_checkout_end(Whose::of(&who), mutation, id, how, body).await.map(Reply::Answer)
    })
    .await
}
