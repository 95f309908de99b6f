//! The floor on SQLite.

use axum::Router;
use sqlx::sqlite::{Sqlite, SqlitePoolOptions};

use bench_kit::database::sqlite_options;

/// The shard of a merchant, an expression.
macro_rules! shard_of {
    ($merchant:literal) => {
        "0"
    };
}

#[path = "handlers.rs"]
mod handlers;

type Db = Sqlite;

/// A deferred transaction that upgrades would fail at once where somebody else has written.
const BEGIN: &str = "BEGIN IMMEDIATE";

pub(super) async fn router(path: &str, template: &str) -> Router {
    let readers = |most| {
        SqlitePoolOptions::new().max_connections(most).connect_lazy_with(sqlite_options(path).read_only(true))
    };
    let writers = SqlitePoolOptions::new().max_connections(1).connect_lazy_with(sqlite_options(path));
    handlers::router(readers(4), readers(4), writers, template).await
}
