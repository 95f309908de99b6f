//! Merchants (contract 2.16, 6.2).

use authority_domain::error_code::ErrorCode;
use authority_domain::id::MerchantId;
use authority_domain::merchant::MerchantStatus;
use authority_domain::merchant::scope::OperatorScope;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{Segment, parsed};
use crate::app::merchant::manage::MerchantFilter;
use crate::http::entry::{AppState, Reply, operator};
use crate::http::list_query::{ROWS, list_request, words};
use crate::http::operation::{self, Operation, created, ok, page, text};
use crate::http::routes::Routes;

const LIST: Operation = Operation::get("/merchants", "merchants.list", "List merchants, newest first.")
    .operator(&[OperatorScope::OperatorRead])
    .query(&[
        operation::words::<MerchantStatus>("status", "With any of these statuses."),
        text("slug", "With this slug."),
    ])
    .answers(&[page("OperatorMerchant", "Merchants.")]);

const CREATE: Operation = Operation::post("/merchants", "merchants.create", "Create a merchant.")
    .operator(&[OperatorScope::OperatorWrite])
    .body(
        "MerchantRequest",
        r#"{"slug":"acme","name":"Acme Ltd","default_currency":"USD","settings":{"confirm_on":"paid"}}"#,
    )
    .answers(&[created("OperatorMerchant", "The merchant.").tagged()]);

const GET: Operation = Operation::get("/merchants/{merchant}", "merchants.get", "Read a merchant.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("OperatorMerchant", "The merchant.").conditional()]);

const UPDATE: Operation = Operation::patch(
    "/merchants/{merchant}",
    "merchants.update",
    "Change a merchant: name, settings, status.",
)
.details(
    "Absent settings and limits stay as they are. A null limit restores the platform's default; a change takes \
     effect on every instance within a second. A closed merchant stays closed.",
)
.operator(&[OperatorScope::OperatorWrite])
.if_match("merchant")
.body("MerchantPatch", r#"{"status":"suspended"}"#)
.answers(&[ok("OperatorMerchant", "The merchant as it is now.").tagged()])
.refuses(&[ErrorCode::InvalidStateTransition]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .add(&LIST, merchants_list)
        .add(&CREATE, merchant_create)
        .add(&GET, merchant_get)
        .add(&UPDATE, merchant_update)
}

async fn merchants_list(State(state): State<AppState>, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let mut query = entered.query;
        let filter = MerchantFilter {
            status: words::<MerchantStatus>(&mut query, "status")?,
            slug: query.text("slug")?,
        };
        let list = list_request(query, ROWS)?;
        app.merchants_list(&list, filter).await.map(Reply::List)
    })
    .await
}

async fn merchant_create(State(state): State<AppState>, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.merchant_create(mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn merchant_get(State(state): State<AppState>, merchant: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        entered.query.finish()?;
        app.merchant_get(parsed(merchant, MerchantId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn merchant_update(State(state): State<AppState>, merchant: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.merchant_update(mutation, parsed(merchant, MerchantId::parse), body).await.map(Reply::Answer)
    })
    .await
}
