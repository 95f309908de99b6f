//! The floor on PostgreSQL.

use axum::Router;
use sqlx::Postgres;
use sqlx::postgres::PgPoolOptions;

/// The shard of a merchant, an expression.
macro_rules! shard_of {
    ($merchant:literal) => {
        concat!("shard_of(", $merchant, ")")
    };
}

#[path = "handlers.rs"]
mod handlers;

type Db = Postgres;

const BEGIN: &str = "BEGIN";

pub(super) async fn router(url: &str, template: &str) -> Router {
    let pool = |most| PgPoolOptions::new().max_connections(most).connect_lazy(url).unwrap();
    handlers::router(pool(8), pool(4), pool(13), template).await
}
