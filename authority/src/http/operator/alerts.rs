//! The operator's alerts (contract 3.4, 3.5, 6.2).

use authority_domain::OperatorScope;
use authority_domain::list_filter::AlertFilter;

use super::Routes;
use crate::http::{Operation, ok, page};

const LIST: Operation = Operation::get("/alerts", "alerts.list")
    .summary("List the platform's alerts, newest first.")
    .operator(&[OperatorScope::OperatorRead])
    .filter::<AlertFilter>()
    .answers(&[page("OperatorAlert", "Alerts.")]);

const CLOSE: Operation = Operation::post("/alerts/{alert}/close", "alerts.close")
    .summary("Close an alert that has been looked into.")
    .details("If it is raised again, a new alert opens.")
    .operator(&[OperatorScope::OperatorWrite])
    .optional_body("NoMembers", "{}")
    .answers(&[ok("OperatorAlert", "The alert.")]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, _, (), list, filter| app.alerts_list(&list, filter).await)
        .write(&CLOSE, async |app, _, mutation, id| app.alert_close(mutation, id).await)
}
