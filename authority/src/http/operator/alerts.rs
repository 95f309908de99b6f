//! The operator's alerts (contract 3.4, 3.5, 6.2).

use authority_domain::id::AlertId;
use authority_domain::scope::OperatorScope;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{get, post};

use super::{Segment, parsed};
use crate::http::entry::{BodyRule, Reply, Roots, operator};

/// Rows where the client does not say.
const ROWS: u16 = 100;

/// The routes.
pub(super) fn routes() -> Router<Roots> {
    Router::new().route("/alerts", get(alerts_list)).route("/alerts/{alert}/close", post(alert_close))
}

async fn alerts_list(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, "alerts.list", &[OperatorScope::OperatorRead], request, async |app, mut entered| {
        let limit = entered.query.limit(ROWS)?;
        entered.query.finish()?;
        app.alerts_list(limit).await.map(Reply::List)
    })
    .await
}

async fn alert_close(State(roots): State<Roots>, alert: Segment, request: Request) -> Response {
    operator(roots, "alerts.close", &[OperatorScope::OperatorWrite], request, async |app, entered| {
        let (_, mutation, body) = entered.write(BodyRule::Optional)?;
        app.alert_close(mutation, parsed(alert, AlertId::parse), body).await.map(Reply::Answer)
    })
    .await
}
