//! Consumers that keep a copy: the feed of changed orders, and checkpoints (contract 4.11, 4.12).

use authority_domain::list_filter::CheckpointFilter;
use authority_domain::{ErrorCode, Scope};

use super::Routes;
use crate::http::operation::feed;
use crate::http::{Operation, ok, page};

const ORDERS: Operation = Operation::get("/sync/orders", "sync.orders")
    .summary("List the changed orders, each as it is now, oldest change first.")
    .details(
        "One row per order, at the sequence of its last event: an order that changed five times is listed \
             once, and one that changes while you read pages moves to the end.",
    )
    .scopes(&[Scope::SyncRead])
    .answers(&[feed("OrderChange", "Orders that changed.")]);

const CHECKPOINTS: Operation = Operation::get("/sync/checkpoints", "checkpoints.list")
    .summary("List checkpoints.")
    .scopes(&[Scope::SyncRead])
    .filter::<CheckpointFilter>()
    .answers(&[page("Checkpoint", "Checkpoints.")]);

const ACKNOWLEDGE: Operation = Operation::post("/sync/checkpoints", "checkpoints.acknowledge")
    .summary("Acknowledge that everything up to a cursor is durably processed.")
    .details("Creates or moves the checkpoint; only `force` moves it backwards.")
    .scopes(&[Scope::SyncWrite])
    .body("CheckpointRequest", r#"{"name":"orders-projection","stream":"orders","cursor":"AQEAAZf0b2x3"}"#)
    .answers(&[ok("Checkpoint", "The checkpoint as it is now.")])
    .refuses(&[ErrorCode::InvalidCursor, ErrorCode::CheckpointRegression, ErrorCode::CheckpointLimitReached]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&ORDERS, async |app, who, (), list, ()| app.order_feed(&who, &list).await)
        .list(&CHECKPOINTS, async |app, who, (), list, filter| {
            app.checkpoints_list(&who, &list, filter).await
        })
        .write(&ACKNOWLEDGE, async |app, who, mutation, ()| app.checkpoint_acknowledge(&who, mutation).await)
}
