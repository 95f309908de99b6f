//! The story of an order on one page: its money, parcels and refunds, then its events in time order, with what
//! became of each event at each endpoint.

use askama::Template;
use authority_domain::{MerchantId, Mode, Named, OrderNumber, Result, Tenant};
use axum::Router;

use super::records::REFUNDS;
use super::visit::{Outcome, Visit, done};
use super::{links, refund_form};
use crate::app::amount;
use crate::app::console::stories::OrderStory;
use crate::app::live::Watched;
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::api_call::ApiCall;
use crate::pages::event::Story;
use crate::pages::filters;
use crate::pages::form::Form;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Fact, Table, fact};
use crate::pages::visit::{shows, submits};

#[derive(Template)]
#[template(path = "order.html")]
struct Page {
    shell: Shell,
    number: String,
    path: String,
    facts: Vec<Fact>,
    lines: Table,
    payments: Table,
    shipments: Table,
    refunds: Table,
    events: Story,
    /// What can be given back, when this key may ask for it.
    refundable: Option<String>,
    refund_call: ApiCall,
    currency: String,
    typed_amount: String,
    typed_note: String,
}

/// The merchant, the mode and the number in a path.
type Segments = (String, String, String);

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route(
            "/console/orders/{merchant}/{mode}/{order}",
            shows(async |visit: Visit, named: Segments| page(&visit, &named, None).await),
        )
        .route("/console/orders/{merchant}/{mode}/{order}/refund", submits(REFUNDS, Policy::Write, refund))
}

async fn refund(mut visit: Visit, form: Form, named: Segments) -> Result<Outcome> {
    let (tenant, number) = parsed(&named)?;
    let story = visit.app.order_story(tenant.clone(), number.clone(), None).await?;
    let mutation = visit.mutation("refunds.request", &form);
    let currency = &story.order.currency;
    let refunded = match refund_form::body(&form, currency) {
        Ok(body) => visit.app.refund_request_for(mutation.with(body), Ok(tenant), Ok(number)).await,
        Err(refusal) => Err(refusal),
    };
    match refunded {
        Ok(_) => Ok(done(&links::order(&story.tenant, story.order.order_number.as_str()), "refunded")),
        Err(refusal) => {
            page(visit.refused(refund_form::in_words(refusal, currency)), &named, Some(&form)).await
        }
    }
}

fn parsed((merchant, mode, number): &Segments) -> Named<(Tenant, OrderNumber)> {
    let named = (MerchantId::parse(merchant), Mode::parse(mode), OrderNumber::parse(number));
    let (Some(merchant_id), Some(mode), Some(number)) = named else { return Err(OrderNumber::missing()) };
    Ok((Tenant { merchant_id, livemode: mode == Mode::Live }, number))
}

async fn page(visit: &Visit, named: &Segments, typed: Option<&Form>) -> Result<Outcome> {
    let (tenant, number) = parsed(named)?;
    let before = visit.asked("before").parse().ok();
    let watched = Watched::MerchantForOperator(tenant.clone());
    let shell = visit.following(links::live(Some(&tenant)), &watched).await?;
    let story = visit.app.order_story(tenant, number, before).await?;
    let order = &story.order;
    let refundable = order.payment_summary.refundable;
    let currency = order.currency.clone();
    let may_refund = refundable > 0 && visit.may(REFUNDS);
    let path = links::order(&story.tenant, order.order_number.as_str());
    visit.page(&Page {
        shell,
        number: order.order_number.to_string(),
        events: Story::of(&story.history, &story.tenant, visit, &path, before)?,
        path,
        facts: facts(&story),
        lines: lines(&story),
        payments: payments(&story),
        shipments: shipments(&story),
        refunds: refunds(&story),
        refund_call: refund_call(&story),
        refundable: may_refund.then(|| amount::plain(refundable, &currency)),
        currency,
        typed_amount: typed.map_or("", |form| form.text("amount")).to_owned(),
        typed_note: typed.map_or("", |form| form.text("note")).to_owned(),
    })
}

fn refund_call(story: &OrderStory) -> ApiCall {
    let Tenant { merchant_id, livemode } = &story.tenant;
    let number = story.order.order_number.as_str();
    ApiCall::refund(&format!("merchants/{merchant_id}/{}/orders/{number}", links::mode(*livemode)), number)
}

fn facts(story: &OrderStory) -> Vec<Fact> {
    let order = &story.order;
    let money = |minor| Cell::text(amount::written(minor, &order.currency));
    let customer = order.customer.as_ref();
    let references: Vec<String> = order
        .external_references
        .iter()
        .map(|reference| format!("{}: {}", reference.system, reference.id))
        .collect();
    vec![
        fact("Status", Cell::state(order.status)),
        fact("Payment", Cell::state(order.payment_status)),
        fact("Fulfilment", Cell::state(order.fulfillment_status)),
        fact("Merchant", links::id(&story.tenant.merchant_id)),
        fact("Mode", Cell::text(links::mode(order.livemode))),
        fact("Total", money(order.amounts.total)),
        fact("Captured", money(order.payment_summary.captured)),
        fact("Refunded", money(order.payment_summary.refunded)),
        fact("Still unpaid", money(order.payment_summary.due)),
        fact("Customer", Cell::some(customer.and_then(|customer| customer.name.clone()))),
        fact("Customer reference", Cell::some(customer.and_then(|customer| customer.reference.clone()))),
        fact("External references", Cell::text(references.join(", "))),
        fact("Checkout", story.checkout.as_ref().map_or(Cell::Nothing, |checkout| links::id(&checkout.id))),
        fact("Subscription", order.subscription_id.as_ref().map_or(Cell::Nothing, links::id)),
        fact("Placed", Cell::at(order.placed_at)),
        fact("Last change", Cell::at(order.updated_at)),
        fact("Note", Cell::some(order.fulfillment_note.clone())),
    ]
}

fn lines(story: &OrderStory) -> Table {
    let currency = &story.order.currency;
    let rows = story.order.line_items.iter().map(|line| {
        vec![
            Cell::text(&line.name),
            Cell::text(line.quantity),
            Cell::text(amount::written(line.total_amount, currency)),
            Cell::text(line.fulfilled_quantity),
            Cell::text(line.shipped_quantity),
            Cell::text(line.delivered_quantity),
        ]
    });
    Table {
        caption: "Lines",
        head: &["Name", "Quantity", "Total", "Fulfilled", "Shipped", "Delivered"],
        rows: rows.collect(),
        empty: "No lines.",
    }
}

fn payments(story: &OrderStory) -> Table {
    let rows = story.payments.iter().map(|payment| {
        vec![
            links::id(&payment.id),
            Cell::state(payment.status),
            Cell::text(amount::written(payment.amount_captured, &payment.currency)),
            Cell::text(&payment.processor.name),
            Cell::some(payment.processor.reference.clone()),
            Cell::some(payment.failure.as_ref().map(|failure| failure.code.clone())),
            Cell::at(payment.created_at),
        ]
    });
    Table {
        caption: "Payments",
        head: &["Payment", "Status", "Captured", "Processor", "Its reference", "Failure", "Created"],
        rows: rows.collect(),
        empty: "Nobody has tried to pay.",
    }
}

fn shipments(story: &OrderStory) -> Table {
    let rows = story.shipments.iter().map(|shipment| {
        vec![
            links::id(&shipment.id),
            Cell::state(shipment.status),
            Cell::text(&shipment.carrier),
            Cell::some(shipment.tracking_number.clone()),
            Cell::at(shipment.shipped_at),
            Cell::maybe_at(shipment.delivered_at),
        ]
    });
    Table {
        caption: "Parcels",
        head: &["Parcel", "Status", "Carrier", "Tracking number", "Shipped", "Delivered"],
        rows: rows.collect(),
        empty: "No parcel yet.",
    }
}

fn refunds(story: &OrderStory) -> Table {
    let rows = story.refunds.iter().map(|refund| {
        vec![
            links::id(&refund.id),
            Cell::state(refund.status),
            Cell::text(amount::written(refund.amount, &refund.currency)),
            links::id(&refund.payment_id),
            Cell::state(refund.reason),
            Cell::some(refund.note.clone()),
            Cell::at(refund.created_at),
        ]
    });
    Table {
        caption: "Refunds",
        head: &["Refund", "Status", "Amount", "Payment", "Reason", "Note", "Requested"],
        rows: rows.collect(),
        empty: "Nothing was given back.",
    }
}
