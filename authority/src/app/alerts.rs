//! The operator's alerts: raised by use cases, listed, and closed by an operator who has looked into them
//! (contract 3.4, 3.5, 6.2).

use authority_domain::alert::{Alert, NewAlert, Severity};
use authority_domain::endpoint::alerts::Said;
use authority_domain::list_filter::AlertFilter;
use authority_domain::order::no_members;
use authority_domain::{
    AlertCode, AlertId, AlertStatus, ListKind, Named, Payment, Refusal, Result, Tenant, Timestamp,
};
use authority_store::shards::Turns;
use authority_store::tx::KeyScope;
use serde::Serialize;

use super::lists::{List, ListRequest, written};
use super::mutation::{Work, on_its_own};
use super::{Answer, App, Mutation, amount};

/// An alert as the operator reads it.
#[derive(Serialize)]
#[serde(tag = "object", rename = "alert")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OperatorAlert"))]
pub(super) struct AlertView<'a> {
    /// Identifies the alert.
    id: &'a AlertId,
    /// What it is about.
    code: AlertCode,
    /// How much it matters.
    severity: Severity,
    /// The record it is about, such as a payment; empty when it is about the whole service.
    subject: &'a str,
    /// A message for people.
    message: &'a str,
    /// How often it was raised since it opened.
    count: i64,
    /// When it opened.
    first_seen_at: Timestamp,
    /// When it was last raised.
    last_seen_at: Timestamp,
    /// Whether it is open.
    status: AlertStatus,
    /// When it was closed; null while it is open.
    closed_at: Option<Timestamp>,
}

impl<'a> From<&'a Alert> for AlertView<'a> {
    fn from(alert: &'a Alert) -> Self {
        Self {
            id: &alert.id,
            code: alert.code,
            severity: alert.severity,
            subject: &alert.subject,
            message: &alert.message,
            count: alert.count,
            first_seen_at: alert.first_seen_at,
            last_seen_at: alert.last_seen_at,
            status: alert.status(),
            closed_at: alert.closed_at,
        }
    }
}

impl App {
    /// `GET /alerts`: newest first.
    pub async fn alerts_list(&self, request: &ListRequest, mut filter: AlertFilter) -> Result<List> {
        if filter.status.is_empty() {
            filter.status.push(AlertStatus::Open);
        }
        let show = |alert: Alert| Ok((alert.id.to_string(), written(AlertView::from(&alert))?));
        self.operator_list(ListKind::OperatorAlerts, AlertId::PREFIX, request, show, async move |tx, of| {
            Ok(tx.alerts_page(&filter, of.before.as_deref(), of.rows).await?)
        })
        .await
    }

    /// `POST /alerts/:alert/close`: an operator has looked into it. If it is raised again, a new alert opens.
    ///
    /// # Errors
    /// `not_found` when it is not open; 422 for a body with members.
    pub async fn alert_close(&self, mutation: Mutation, id: Named<AlertId>) -> Result<Answer> {
        let empty = no_members(&mutation.body);
        self.run_once(mutation, KeyScope::Operator, async move |work| {
            let id = id?;
            empty?;
            let closed = work.tx.alert_close_by_id(None, &id, work.now).await?;
            let closed = closed.ok_or_else(AlertId::missing)?;
            Ok(Answer::record(200, &AlertView::from(&closed))?.about(id.as_str()))
        })
        .await
    }
}

/// Raised when money arrives for a checkout that ended without an order, or for an order that was cancelled.
pub(super) async fn late_payment(work: &mut Work<'_>, payment: &Payment) -> Result<()> {
    let what = if payment.order_number.is_some() { "order" } else { "checkout" };
    let message = format!(
        "{} of payment {} came after its {what} had ended. Give it back with POST /payments/{}/refunds.",
        amount::written(payment.amount_captured, &payment.currency),
        payment.id,
        payment.id
    );
    raise(work, None, payment.id.as_str(), (AlertCode::LatePayment, Severity::Critical, message)).await
}

/// Raised when a processor's or carrier's report about a record is refused; `what` is a noun such as `payment`. In a
/// transaction of its own, because the refusal rolled the report's back.
pub(super) async fn report_refused(app: &App, what: &str, subject: &str, refusal: &Refusal) {
    let message = format!("A report about {what} {subject} was refused: {refusal}");
    let subject = subject.to_owned();
    let raised = on_its_own(app, Turns::NONE, async move |work| {
        raise(work, None, &subject, (AlertCode::ReportRefused, Severity::Warning, message)).await
    });
    if let Err(error) = raised.await {
        tracing::error!(%error, "the alert about a refused report could not be raised");
    }
}

/// Raises an alert for a merchant, or for the operator (`None`).
pub(super) async fn raise(
    work: &mut Work<'_>,
    owner: Option<&Tenant>,
    subject: &str,
    (code, severity, message): Said,
) -> Result<()> {
    let id = AlertId::generate(work.now, &mut work.dice);
    let alert = NewAlert { id, code, severity, subject: subject.to_owned(), message };
    work.tx.alert_raise(owner, &alert, work.now).await?;
    Ok(())
}
