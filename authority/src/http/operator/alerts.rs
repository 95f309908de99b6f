//! The operator's alerts (contract 3.4, 3.5, 6.2).

use authority_domain::alert::{AlertCode, AlertStatus};
use authority_domain::id::AlertId;
use authority_domain::merchant::scope::OperatorScope;
use axum::extract::{Request, State};
use axum::response::Response;

use super::{Segment, parsed};
use crate::app::alerts::AlertFilter;
use crate::http::entry::{AppState, AuthorizedRequest, Reply, operator};
use crate::http::list_query::{ROWS, list_request};
use crate::http::operation::{Operation, ok, page, words};
use crate::http::routes::Routes;

const LIST: Operation = Operation::get("/alerts", "alerts.list", "List the platform's alerts, newest first.")
    .operator(&[OperatorScope::OperatorRead])
    .query(&[
        words::<AlertCode>("code", "With any of these codes."),
        words::<AlertStatus>("status", "With any of these statuses; default: open alerts."),
    ])
    .answers(&[page("OperatorAlert", "Alerts.")]);

const CLOSE: Operation =
    Operation::post("/alerts/{alert}/close", "alerts.close", "Close an alert that has been looked into.")
        .details("If it is raised again, a new alert opens.")
        .operator(&[OperatorScope::OperatorWrite])
        .optional_body("NoMembers", "{}")
        .answers(&[ok("OperatorAlert", "The alert.")]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new().add(&LIST, alerts_list).add(&CLOSE, alert_close)
}

async fn alerts_list(State(state): State<AppState>, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let AuthorizedRequest { mut query, .. } = entered;
        let codes = query.list("code")?;
        let mut status: Vec<AlertStatus> = query.list("status")?;
        if status.is_empty() {
            status.push(AlertStatus::Open);
        }
        let list = list_request(query, ROWS)?;
        app.alerts_list(&list, AlertFilter { codes, status }).await.map(Reply::List)
    })
    .await
}

async fn alert_close(State(state): State<AppState>, alert: Segment, request: Request) -> Response {
    operator(state, request, async |app, entered| {
        let (_, mutation, body) = entered.write()?;
        app.alert_close(mutation, parsed(alert, AlertId::parse), body).await.map(Reply::Answer)
    })
    .await
}
