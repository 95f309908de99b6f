//! Merchants (contract 2.16, 6.2).

use authority_domain::id::MerchantId;
use authority_domain::merchant::MerchantStatus;
use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;

use super::{Segment, parsed};
use crate::app::merchants::MerchantFilter;
use crate::http::entry::{BodyRule, Reply, Roots, operator};
use crate::http::list_query::{ROWS, list_request, words};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/merchants", get(merchants_list).post(merchant_create))
        .route("/merchants/{merchant}", get(merchant_get).patch(merchant_update))
}

async fn merchants_list(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, "merchants.list", &[OperatorScope::OperatorRead], request, async |app, entered| {
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

async fn merchant_create(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, "merchants.create", &[OperatorScope::OperatorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.merchant_create(mutation, body).await.map(Reply::Answer)
    })
    .await
}

async fn merchant_get(State(roots): State<Roots>, merchant: Segment, request: Request) -> Response {
    operator(roots, "merchants.get", &[OperatorScope::OperatorRead], request, async |app, entered| {
        entered.query.finish()?;
        app.merchant_get(parsed(merchant, MerchantId::parse)).await.map(Reply::Answer)
    })
    .await
}

async fn merchant_update(State(roots): State<Roots>, merchant: Segment, request: Request) -> Response {
    operator(roots, "merchants.update", &[OperatorScope::OperatorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.merchant_update(mutation, parsed(merchant, MerchantId::parse), body).await.map(Reply::Answer)
    })
    .await
}
