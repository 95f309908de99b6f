//! Consumers that keep a copy: the feed of changed orders, and checkpoints (contract 4.11, 4.12).

use authority_domain::error_code::ErrorCode;
use authority_domain::merchant::scope::Scope;
use authority_domain::refusal::Refusal;
use authority_domain::sync::checkpoint::CheckpointStream;

use crate::app::access::Caller;
use crate::http::list_query::{nothing, words};
use crate::http::operation::{self, Operation, feed, ok, page, text};
use crate::http::query::Query;
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
        .list(&ORDERS, nothing, async |app, who: Caller, (), list, ()| app.order_feed(&who, &list).await)
        .list(&CHECKPOINTS, filter, async |app, who: Caller, (), list, (streams, name)| {
            app.checkpoints_list(&who, &list, streams, name).await
        })
        .write(&ACKNOWLEDGE, async |app, who: Caller, mutation, (), body| {
            app.checkpoint_acknowledge(&who, mutation, body).await
        })
}

fn filter(query: &mut Query) -> Result<(Vec<String>, Option<String>), Refusal> {
    Ok((words::<CheckpointStream>(query, "stream")?, query.text("name")?))
}
