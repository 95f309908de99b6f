//! The groups that operations are listed in, in the order in which a reader meets them, and what each is about.
//!
//! A resource may have a group in both documents: the merchant does other things with it than the platform.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use crate::document::Api;

/// The groups among `used`, each with what it is about.
pub(crate) fn listed(api: Api, used: &BTreeSet<String>) -> Result<Vec<(&'static str, &'static str)>> {
    let all: &[(&str, &str)] = match api {
        Api::Merchant => &MERCHANT,
        Api::Operator => &OPERATOR,
    };
    if let Some(unknown) = used.iter().find(|name| all.iter().all(|(tag, _)| tag != name)) {
        bail!("nothing is said about the tag {unknown}");
    }
    Ok(all.iter().filter(|(tag, _)| used.contains(*tag)).copied().collect())
}

/// Of the merchant API and the sandbox.
const MERCHANT: [(&str, &str); 19] = [
    (
        "orders",
        "Orders, and how far their fulfilment has come. Money and status are the authority's to write.",
    ),
    ("payments", "Payments, to be read: processors report them through the platform."),
    (
        "refunds",
        "Refunds, to be asked for and read. Money is back when the refund is `completed`, and not when it is asked for.",
    ),
    ("shipments", "Parcels of orders. Carriers report on them through the platform."),
    ("subscriptions", "Subscriptions, to be read. Each period that is renewed makes an order."),
    ("external_references", "What other systems call an order, written by the merchant."),
    (
        "events",
        "The history of all that happened, in order and without gaps. Deliveries are the fast way to hear of \
             something; this is the sure one.",
    ),
    (
        "endpoints",
        "Where events are sent, which of them, and the secrets they are signed with. What an endpoint missed can be \
             listed and sent again.",
    ),
    ("deliveries", "What was sent to which webhook endpoint, every attempt, and what is still to be sent."),
    ("recoveries", "Jobs that send an endpoint again what it missed."),
    ("integration_health", "Endpoints, open alerts and pending deliveries at a glance."),
    ("sync", "The orders that changed since the reader last asked, each as it is now."),
    (
        "checkpoints",
        "How far each consumer of a feed has come, kept for it: whatever else it loses, it can go on from there.",
    ),
    (
        "partner_connections",
        "Merchants that share orders with each other: invited, accepted, ended by either.",
    ),
    (
        "order_shares",
        "One's own orders in the hands of partners: which, with whom, and what of them is shown.",
    ),
    ("partner_orders", "Orders of other merchants, as far as they share them with the reader."),
    (
        "sandbox",
        "What the platform, the processor and the carrier would do, for test keys: every event can be had without them.",
    ),
    (
        "webhooks",
        "What is sent to webhook endpoints: a `POST` with an event for every change, signed, at least once and in no \
             particular order. Deduplicate by the event's `id`; accept types and members that are not listed here. An \
             answer is awaited for 15 seconds; the endpoint is left alone for a while after 429, 502, 503, 504 and \
             whatever ends without an answer.",
    ),
    ("service", "The description of this API, for everybody."),
];

/// Of the operator API.
const OPERATOR: [(&str, &str); 17] = [
    ("merchants", "Those whose business it is, and their settings."),
    ("api_keys", "The keys of merchants: issued, replaced, ended."),
    ("portal_sessions", "Links to the merchant portal."),
    ("checkouts", "Checkouts of the platform's pages: opened, completed, given up."),
    ("orders", "Orders of a merchant: taken in, edited, confirmed, cancelled."),
    ("payments", "Payments: begun, and what processors report of them."),
    ("refunds", "Refunds of all merchants: what is to be given back, and what processors report of it."),
    ("shipments", "What carriers report of parcels."),
    ("subscriptions", "Subscriptions: made, changed, renewed, ended."),
    ("events", "The events of all merchants."),
    ("deliveries", "What is sent to the endpoints of all merchants."),
    ("endpoints", "Any merchant's webhook endpoint: looked at, disabled, enabled."),
    ("sink", "The platform's own webhook endpoint, which hears of everything that happens to any merchant."),
    ("outbox", "The backlog of all merchants, and for whom it waits."),
    ("alerts", "What the platform's people should look at; they close what they have seen."),
    ("audit_log", "Who wrote what, through which operation, and why."),
    (
        "service",
        "The state, the figures and the description of the service, for everybody who reaches this listener.",
    ),
];
