//! Payments, refunds, parcels, subscriptions and checkouts: each with the order it belongs to, its events and what
//! became of them, and as it is stored; and giving a payment back that came too late for an order.

use askama::Template;
use authority_domain::{OperatorScope, PaymentId, Refusal, Result};
use axum::Router;
use serde_json::Value;

use super::visit::{Outcome, Visit, done};
use super::{links, refund_form};
use crate::app::amount;
use crate::app::console::stories::RecordStory;
use crate::app::live::Watched;
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::event::Story;
use crate::pages::filters;
use crate::pages::form::Form;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Fact, fact, member, time_of};
use crate::pages::visit::{shows, submits};

/// What asks for refunds.
pub(super) const REFUNDS: &[OperatorScope] = &[OperatorScope::ProcessorWrite];

#[derive(Template)]
#[template(path = "record.html")]
struct Page {
    shell: Shell,
    kind: String,
    id: String,
    path: String,
    facts: Vec<Fact>,
    events: Story,
    /// What can be given back of a payment, and where to.
    refundable: Option<String>,
    currency: String,
    typed_amount: String,
    typed_note: String,
    json: String,
}

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route(
            "/console/records/{id}",
            shows(async |visit: Visit, id: String| page(&visit, &id, [String::new(), String::new()]).await),
        )
        .route("/console/records/{id}/refund", submits(REFUNDS, Policy::Write, refund))
}

async fn refund(mut visit: Visit, form: Form, id: String) -> Result<Outcome> {
    let RecordStory { record, .. } = visit.app.record_story(id.clone(), None).await?;
    let mutation = visit.mutation("payments.refund", &form);
    let currency = member(&record, "currency");
    let refunded = match refund_form::body(&form, &currency) {
        Ok(body) => visit.app.refund_request_of_payment(mutation.with(body), PaymentId::named(&id)).await,
        Err(refusal) => Err(refusal),
    };
    match refunded {
        Ok(_) => Ok(done(&links::record("records", &id), "refunded")),
        Err(refusal) => {
            let typed = [form.text("amount").to_owned(), form.text("note").to_owned()];
            page(visit.refused(refund_form::in_words(refusal, &currency)), &id, typed).await
        }
    }
}

async fn page(visit: &Visit, id: &str, [typed_amount, typed_note]: [String; 2]) -> Result<Outcome> {
    let before = visit.asked("before").parse().ok();
    let RecordStory { tenant, record, history } = visit.app.record_story(id.to_owned(), before).await?;
    let watched = Watched::MerchantForOperator(tenant.clone());
    let shell = visit.following(links::live(Some(&tenant)), &watched).await?;
    let path = links::record("records", id);
    let text = |name: &str| member(&record, name);
    let currency = text("currency");
    // A checkout has its amount in parts and their total.
    let minor = record.get("amount").or_else(|| record.pointer("/amounts/total")).and_then(Value::as_i64);
    // A subscription has made several orders, of which it names the newest.
    let number = [text("order_number"), text("latest_order_number")].concat();
    let order =
        if number.is_empty() { Cell::Nothing } else { Cell::link(&number, links::order(&tenant, &number)) };
    let facts = vec![
        fact("Status", Cell::state(text("status"))),
        fact("Merchant", links::id(&tenant.merchant_id)),
        fact("Mode", Cell::text(links::mode(tenant.livemode))),
        fact("Order", order),
        fact("Amount", Cell::some(minor.map(|minor| amount::written(minor, &currency)))),
        fact("Created", time_of(&record, "created_at")),
        fact("Last change", time_of(&record, "updated_at")),
    ];
    let minor = |name: &str| record.get(name).and_then(Value::as_i64).unwrap_or(0);
    let left = minor("amount_captured") - minor("amount_refunded") - minor("amount_refund_pending");
    let refundable = text("object") == "payment" && left > 0 && visit.may(REFUNDS);
    visit.page(&Page {
        shell,
        kind: text("object"),
        id: id.to_owned(),
        events: Story::of(&history, &tenant, visit, &path, before)?,
        path,
        facts,
        refundable: refundable.then(|| amount::plain(left, &currency)),
        currency,
        typed_amount,
        typed_note,
        json: serde_json::to_string_pretty(&record).map_err(|_| Refusal::internal())?,
    })
}
