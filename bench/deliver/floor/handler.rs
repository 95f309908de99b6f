//! The one handler: it hands the request to the writer and answers after the commit.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::post;
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::Setting;
use super::writer::{Asked, Work};

#[derive(Clone)]
struct Floor {
    merchants: Arc<HashMap<String, usize>>,
    work: mpsc::UnboundedSender<Work>,
}

/// On the same path as the authority's, so that the load is the same to the byte.
pub(super) fn router(setting: &Setting, work: mpsc::UnboundedSender<Work>) -> Router {
    let merchants = setting.merchants.iter().enumerate().map(|(n, merchant)| (merchant.id.clone(), n));
    Router::new()
        .route("/v1/operator/merchants/{merchant}/test/checkouts", post(checkout))
        .with_state(Floor { merchants: Arc::new(merchants.collect()), work })
}

async fn checkout(
    State(floor): State<Floor>,
    Path(merchant): Path<String>,
    _body: Bytes,
) -> impl IntoResponse {
    let (committed, answer) = oneshot::channel();
    let merchant = floor.merchants[&merchant];
    floor.work.send(Work::Checkout(Asked { merchant, committed })).unwrap();
    (StatusCode::CREATED, [(CONTENT_TYPE, "application/json")], answer.await.unwrap())
}
