//! The operator's alerts: raised by use cases, listed, and closed by whoever has looked (contract 3.4, 3.5, 6.2).

use authority_domain::alert::{Alert, AlertCode, NewAlert, Severity};
use authority_domain::id::AlertId;
use authority_domain::payment::Payment;
use authority_domain::refusal::Refusal;
use authority_domain::requests::no_members;
use authority_domain::time::Timestamp;
use authority_store::StoreError;
use authority_store::ports::{KeyScope, Tx};
use serde::Serialize;
use serde_json::Value;

use super::lists::List;
use super::mutation::Work;
use super::{Answer, App, Mutation};

/// An open alert as the operator reads it.
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
    /// The record it is about, such as a payment; empty where it is about the whole.
    subject: &'a str,
    /// For people.
    message: &'a str,
    /// How often it was raised since it opened.
    count: i64,
    /// When it opened.
    first_seen_at: Timestamp,
    /// When it was raised last.
    last_seen_at: Timestamp,
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
        }
    }
}

impl App {
    /// `GET /alerts`: the open ones, oldest first, at most `limit`. One page: who has looked closes them.
    ///
    /// # Errors
    /// `service_unavailable`.
    pub async fn alerts_list(&self, limit: u16) -> Result<List, Refusal> {
        let open: Vec<Alert> = self
            .store
            .read_list(move |tx: &mut dyn Tx| {
                Box::pin(async move { tx.alerts_open(None, i64::from(limit)).await })
            })
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        let items = open.iter().map(|alert| serde_json::to_string(&AlertView::from(alert)));
        let items = items.collect::<Result<_, _>>().map_err(|_| Refusal::internal())?;
        Ok(List { items, next_cursor: None, resume_cursor: None })
    }

    /// `POST /alerts/:alert/close`: somebody has looked. Raised again, it opens anew.
    ///
    /// # Errors
    /// `not_found` when it is not open; 422 for a body with members.
    pub async fn alert_close(
        &self,
        mutation: Mutation,
        id: Option<AlertId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        mutation
            .run(self, KeyScope::Operator, move |work| {
                Box::pin(async move {
                    let missing = || Refusal::not_found("open alert");
                    let id = id.ok_or_else(missing)?;
                    no_members(&body)?;
                    let closed = work.tx.alert_close_by_id(None, &id, work.now).await?.ok_or_else(missing)?;
                    Ok(Answer::record(200, &AlertView::from(&closed))?.about(id.as_str()))
                })
            })
            .await
    }
}

/// Money came for a checkout that had ended without an order.
pub(super) async fn late_payment(work: &mut Work<'_>, payment: &Payment) -> Result<(), Refusal> {
    let message = format!(
        "The processor says that {} of {} {} succeeded after its checkout had ended; it made no order.",
        payment.id, payment.amount, payment.currency
    );
    raise(work, AlertCode::LatePayment, Severity::Critical, payment.id.as_str(), message).await
}

/// A processor's or carrier's report about a record was refused; `what` is a noun such as `payment`.
pub(super) async fn report_refused(
    work: &mut Work<'_>,
    what: &str,
    subject: &str,
    refusal: &Refusal,
) -> Result<(), Refusal> {
    let message = format!("A report about {what} {subject} was refused: {refusal}");
    raise(work, AlertCode::ReportRefused, Severity::Warning, subject, message).await
}

async fn raise(
    work: &mut Work<'_>,
    code: AlertCode,
    severity: Severity,
    subject: &str,
    message: String,
) -> Result<(), Refusal> {
    let id = AlertId::generate(work.now, &mut work.dice);
    let alert = NewAlert { id, code, severity, subject: subject.to_owned(), message };
    work.tx.alert_raise(None, &alert, work.now).await?;
    Ok(())
}
