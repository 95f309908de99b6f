//! The operator API: `/v1/operator`, on a listener of its own (contract 6.1, 6.2).
//!
//! The platform tells what happened; the authority decides whether it is legal and what follows from it. Merchant and
//! mode are named by the path here. Beside it, without a key: `/healthz` and `/readyz`.

use authority_domain::id::{MerchantId, PaymentId};
use authority_domain::scope::OperatorScope;
use authority_domain::tenant::{Mode, Tenant};
use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::StatusCode;

use super::entry::{BodyRule, Reply, Roots, operator};
use super::problem::Problem;

/// The routes of the operator's listener.
pub fn routes() -> Router<Roots> {
    let api = Router::new()
        .route("/merchants", post(merchant_create))
        .route("/merchants/{merchant}/api-keys", post(api_key_issue))
        .route("/merchants/{merchant}/{mode}/checkouts", post(checkout_open))
        .route("/merchants/{merchant}/{mode}/payments", post(payment_start))
        .route("/payments/{payment}/reports", post(payment_report));
    Router::new()
        .nest("/v1/operator", api)
        .route("/healthz", get(async || (StatusCode::OK, "ok\n")))
        .route("/readyz", get(readyz))
}

/// `{merchant}/{mode}`; what does not parse is a merchant that does not exist.
fn tenant(segments: Result<Path<(String, String)>, PathRejection>) -> Option<Tenant> {
    let Path((merchant, mode)) = segments.ok()?;
    let livemode = Mode::parse(&mode)? == Mode::Live;
    Some(Tenant { merchant_id: MerchantId::parse(&merchant)?, livemode })
}

async fn merchant_create(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, "merchants.create", OperatorScope::OperatorWrite, request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.merchant_create(mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn api_key_issue(
    State(roots): State<Roots>,
    merchant: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    operator(roots, "api_keys.issue", OperatorScope::KeysWrite, request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        let merchant = merchant.ok().and_then(|Path(id)| MerchantId::parse(&id));
        app.api_key_issue(mutation, merchant, body).await.map(Reply::Answer)
    })
    .await
}

async fn checkout_open(
    State(roots): State<Roots>,
    segments: Result<Path<(String, String)>, PathRejection>,
    request: Request,
) -> Response {
    operator(roots, "checkouts.open", OperatorScope::OperatorWrite, request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.checkout_open(mutation, tenant(segments), body).await.map(Reply::Answer)
    })
    .await
}

async fn payment_start(
    State(roots): State<Roots>,
    segments: Result<Path<(String, String)>, PathRejection>,
    request: Request,
) -> Response {
    operator(roots, "payments.start", OperatorScope::ProcessorWrite, request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.payment_start(mutation, tenant(segments), body).await.map(Reply::Answer)
    })
    .await
}

async fn payment_report(
    State(roots): State<Roots>,
    payment: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    operator(roots, "payments.report", OperatorScope::ProcessorWrite, request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        let payment = payment.ok().and_then(|Path(id)| PaymentId::parse(&id));
        app.payment_report(mutation, payment, body).await.map(Reply::Answer)
    })
    .await
}

/// Ready means that the database answers.
async fn readyz(State(roots): State<Roots>) -> Response {
    match roots.app.ready().await {
        Ok(()) => (StatusCode::OK, "ready\n").into_response(),
        Err(refusal) => Problem(refusal).into_response(),
    }
}
