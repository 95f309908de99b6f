//! The operator's alerts (contract 3.4, 3.5, 6.2).

use authority_domain::alert::{AlertCode, AlertStatus};
use authority_domain::merchant::scope::OperatorScope;
use authority_domain::refusal::Refusal;

use crate::app::access::Operator;
use crate::app::alerts::AlertFilter;
use crate::http::operation::{Operation, ok, page, words};
use crate::http::query::Query;
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
    Routes::new()
        .list(&LIST, filter, async |app, _: Operator, (), list, filter| app.alerts_list(&list, filter).await)
        .write(&CLOSE, async |app, _: Operator, mutation, id, body| app.alert_close(mutation, id, body).await)
}

fn filter(query: &mut Query) -> Result<AlertFilter, Refusal> {
    let codes = query.list("code")?;
    let mut status: Vec<AlertStatus> = query.list("status")?;
    if status.is_empty() {
        status.push(AlertStatus::Open);
    }
    Ok(AlertFilter { codes, status })
}
