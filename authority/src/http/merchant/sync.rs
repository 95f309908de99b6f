//! Consumers that keep a copy: the feed of changed orders, and checkpoints (contract 4.11, 4.12).

use authority_domain::checkpoint::CheckpointStream;
use authority_domain::scope::Scope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;

use super::{FEED_ROWS, ROWS, list_request, operation, words};
use crate::http::entry::{BodyRule, Entered, Reply, Roots, merchant};

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new()
        .route("/sync/orders", get(order_feed))
        .route("/sync/checkpoints", get(checkpoints_list).post(checkpoint_acknowledge))
}

async fn order_feed(State(roots): State<Roots>, request: Request) -> Response {
    merchant(roots, operation("sync.orders", &[Scope::SyncRead]), request, async |app, entered| {
        let Entered { who, query, .. } = entered;
        let list = list_request(query, FEED_ROWS)?;
        app.order_feed(&who, &list).await.map(Reply::List)
    })
    .await
}

async fn checkpoints_list(State(roots): State<Roots>, request: Request) -> Response {
    merchant(roots, operation("checkpoints.list", &[Scope::SyncRead]), request, async |app, entered| {
        let Entered { who, mut query, .. } = entered;
        let streams = words::<CheckpointStream>(&mut query, "stream")?;
        let name = query.text("name")?;
        let list = list_request(query, ROWS)?;
        app.checkpoints_list(&who, &list, streams, name).await.map(Reply::List)
    })
    .await
}

async fn checkpoint_acknowledge(State(roots): State<Roots>, request: Request) -> Response {
    let operation = operation("checkpoints.acknowledge", &[Scope::SyncWrite]);
    merchant(roots, operation, request, async |app, entered| {
        let (who, mutation, body) = entered.write(BodyRule::Required)?;
        app.checkpoint_acknowledge(&who, mutation, body).await.map(Reply::Answer)
    })
    .await
}
