//! The operator's alerts (contract 3.4, 3.5, 6.2).

use authority_domain::id::AlertId;
use authority_domain::scope::OperatorScope;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{Segment, parsed};
use crate::http::entry::{Reply, Roots, operator};
use crate::http::operation::{Operation, number, ok, rows};
use crate::http::routes::Routes;

/// Rows where the client does not say.
const ROWS: u16 = 100;

const LIST: Operation =
    Operation::get("/alerts", "alerts.list", "List the platform's open alerts, oldest first.")
        .details("There is one page; who has looked closes them.")
        .operator(&[OperatorScope::OperatorRead])
        .query(&[number("limit", 1, 100, "Most alerts to be listed; 100 where it is not given.")])
        .answers(&[rows("OperatorAlert", "Open alerts.")]);

const CLOSE: Operation =
    Operation::post("/alerts/{alert}/close", "alerts.close", "Close an alert: somebody has looked.")
        .details("Raised again, it opens anew.")
        .operator(&[OperatorScope::OperatorWrite])
        .optional_body("NoMembers", "{}")
        .answers(&[ok("OperatorAlert", "The alert.")]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new().add(&LIST, alerts_list).add(&CLOSE, alert_close)
}

async fn alerts_list(State(roots): State<Roots>, request: Request) -> Response {
    operator(roots, request, async |app, mut entered| {
        let limit = entered.query.limit(ROWS)?;
        entered.query.finish()?;
        app.alerts_list(limit).await.map(Reply::List)
    })
    .await
}

async fn alert_close(State(roots): State<Roots>, alert: Segment, request: Request) -> Response {
    operator(roots, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.alert_close(mutation, parsed(alert, AlertId::parse), body).await.map(Reply::Answer)
    })
    .await
}
