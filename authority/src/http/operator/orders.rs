//! Orders from the operator's side (contract 3.1, 6.2).

use authority_domain::order_number::OrderNumber;
use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};

use super::{RecordSegments, TenantSegments, tenant, tenant_and};
use crate::app::order_changes::OrderAction;
use crate::http::entry::{BodyRule, Reply, Roots, operator};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    const ORDER: &str = "/merchants/{merchant}/{mode}/orders/{order}";
    Router::new()
        .route("/merchants/{merchant}/{mode}/orders", post(order_ingest))
        .route(ORDER, get(order_get).patch(order_edit))
        .route(&format!("{ORDER}/confirm"), post(order_confirm))
        .route(&format!("{ORDER}/cancel"), post(order_cancel))
}

async fn order_ingest(State(roots): State<Roots>, segments: TenantSegments, request: Request) -> Response {
    operator(roots, "orders.ingest", &[OperatorScope::OperatorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Required)?;
        app.order_ingest(mutation, tenant(segments), body).await.map(Reply::Answer)
    })
    .await
}

async fn order_get(State(roots): State<Roots>, segments: RecordSegments, request: Request) -> Response {
    operator(roots, "orders.read", &[OperatorScope::OperatorRead], request, async |app, entered| {
        entered.query.finish()?;
        let (tenant, number) = tenant_and(segments, OrderNumber::parse);
        app.order_read(tenant, number).await.map(Reply::Answer)
    })
    .await
}

async fn order_edit(State(roots): State<Roots>, segments: RecordSegments, request: Request) -> Response {
    change(roots, "orders.edit", OrderAction::Edit, segments, request).await
}

async fn order_confirm(State(roots): State<Roots>, segments: RecordSegments, request: Request) -> Response {
    change(roots, "orders.confirm", OrderAction::Confirm, segments, request).await
}

async fn order_cancel(State(roots): State<Roots>, segments: RecordSegments, request: Request) -> Response {
    change(roots, "orders.cancel", OrderAction::Cancel, segments, request).await
}

async fn change(
    roots: Roots,
    name: &'static str,
    action: OrderAction,
    segments: RecordSegments,
    request: Request,
) -> Response {
    let rule = if action == OrderAction::Edit { BodyRule::Required } else { BodyRule::Optional };
    operator(roots, name, &[OperatorScope::OperatorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(rule)?;
        let (tenant, number) = tenant_and(segments, OrderNumber::parse);
        app.order_change(mutation, tenant, number, action, body).await.map(Reply::Answer)
    })
    .await
}
