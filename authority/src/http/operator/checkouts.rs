//! Checkouts (contract 3.4, 6.2).

use authority_domain::checkout::CheckoutEnd;
use authority_domain::id::CheckoutId;
use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};

use super::{Segment, TenantSegments, parsed, tenant};
use crate::app::checkout_ends::CheckoutAction;
use crate::http::entry::{BodyRule, Reply, Roots, operator};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/merchants/{merchant}/{mode}/checkouts", post(checkout_open))
        .route("/checkouts/{checkout}", get(checkout_get))
        .route("/checkouts/{checkout}/cancel", post(checkout_cancel))
        .route("/checkouts/{checkout}/expire", post(checkout_expire))
        .route("/checkouts/{checkout}/complete", post(checkout_complete))
}

async fn checkout_open(State(roots): State<Roots>, segments: TenantSegments, request: Request) -> Response {
    operator(roots, "checkouts.open", &[OperatorScope::OperatorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.checkout_open(mutation, tenant(segments), body).await.map(Reply::Answer)
    })
    .await
}

async fn checkout_get(State(roots): State<Roots>, checkout: Segment, request: Request) -> Response {
    operator(roots, "checkouts.get", &[OperatorScope::OperatorRead], request, async |app, entered| {
        entered.query.finish()?;
        app.checkout_get(parsed(checkout, CheckoutId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn checkout_cancel(State(roots): State<Roots>, checkout: Segment, request: Request) -> Response {
    let action = CheckoutAction::End(CheckoutEnd::Cancelled);
    end(roots, "checkouts.cancel", action, checkout, request).await
}

async fn checkout_expire(State(roots): State<Roots>, checkout: Segment, request: Request) -> Response {
    let action = CheckoutAction::End(CheckoutEnd::Expired);
    end(roots, "checkouts.expire", action, checkout, request).await
}

async fn checkout_complete(State(roots): State<Roots>, checkout: Segment, request: Request) -> Response {
    end(roots, "checkouts.complete", CheckoutAction::Complete, checkout, request).await
}

async fn end(
    roots: Roots,
    name: &'static str,
    action: CheckoutAction,
    checkout: Segment,
    request: Request,
) -> Response {
    operator(roots, name, &[OperatorScope::OperatorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Optional)?;
        let checkout = parsed(checkout, CheckoutId::parse);
        app.checkout_end(mutation, checkout, action, body).await.map(Reply::Answer)
    })
    .await
}
