//! Consumers that keep a copy: the feed of changed orders, and checkpoints (contract 4.11, 4.12).

use authority_domain::error_code::ErrorCode;
use authority_domain::merchant::scope::Scope;
use authority_domain::sync::checkpoint::CheckpointStream;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{FEED_ROWS, ROWS, list_request, words};
use crate::http::entry::{AppState, AuthorizedRequest, Reply, merchant};
use crate::http::operation::{self, Operation, feed, ok, page, text};
use crate::http::routes::Routes;

const ORDERS: Operation = Operation::get(
    "/sync/orders",
    "sync.orders",
    "List the changed orders, each as it is now, oldest change first.",
)
.details(
    "One row per order, at the sequence of its last event: an order that changed five times is listed \
             once, and one that changes while you read pages moves to the end.",
)
.scopes(&[Scope::SyncRead])
.answers(&[feed("OrderChange", "Orders that changed.")]);

const CHECKPOINTS: Operation = Operation::get("/sync/checkpoints", "checkpoints.list", "List checkpoints.")
    .scopes(&[Scope::SyncRead])
    .query(&[
        operation::words::<CheckpointStream>("stream", "Of any of these feeds."),
        text("name", "With this name."),
    ])
    .answers(&[page("Checkpoint", "Checkpoints.")]);

const ACKNOWLEDGE: Operation = Operation::post(
    "/sync/checkpoints",
    "checkpoints.acknowledge",
    "Acknowledge that everything up to a cursor is durably processed.",
)
.details("Creates or moves the checkpoint; only `force` moves it backwards.")
.scopes(&[Scope::SyncWrite])
.body("CheckpointRequest", r#"{"name":"orders-projection","stream":"orders","cursor":"AQEAAZf0b2x3"}"#)
.answers(&[ok("Checkpoint", "The checkpoint as it is now.")])
.refuses(&[ErrorCode::InvalidCursor, ErrorCode::CheckpointRegression, ErrorCode::CheckpointLimitReached]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .add(&ORDERS, order_feed)
        .add(&CHECKPOINTS, checkpoints_list)
        .add(&ACKNOWLEDGE, checkpoint_acknowledge)
}

async fn order_feed(State(state): State<AppState>, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let AuthorizedRequest { who, query, .. } = entered;
        let list = list_request(query, FEED_ROWS)?;
        app.order_feed(&who, &list).await.map(Reply::List)
    })
    .await
}

async fn checkpoints_list(State(state): State<AppState>, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let AuthorizedRequest { who, mut query, .. } = entered;
        let streams = words::<CheckpointStream>(&mut query, "stream")?;
        let name = query.text("name")?;
        let list = list_request(query, ROWS)?;
        app.checkpoints_list(&who, &list, streams, name).await.map(Reply::List)
    })
    .await
}

async fn checkpoint_acknowledge(State(state): State<AppState>, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (who, mutation, body) = entered.write()?;
        app.checkpoint_acknowledge(&who, mutation, body).await.map(Reply::Answer)
    })
    .await
}
