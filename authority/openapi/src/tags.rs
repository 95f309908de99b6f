//! The groups that operations are listed in, and what each is about.
//!
//! A resource may have a group in both documents: the merchant does other things with it than the platform.

use anyhow::{Result, bail};

use crate::document::Api;

/// What the group is about.
pub(crate) fn about(api: Api, tag: &str) -> Result<&'static str> {
    let text = match api {
        Api::Merchant => of_merchants(tag),
        Api::Operator => of_the_operator(tag),
    };
    match text {
        "" => bail!("nothing is said about the tag {tag}"),
        text => Ok(text),
    }
}

fn of_merchants(tag: &str) -> &'static str {
    match tag {
        "checkpoints" => {
            "How far each consumer of a feed has come, kept for it: whatever else it loses, it can go on from there."
        }
        "deliveries" => {
            "What was sent to which webhook endpoint, every attempt, and what is still to be sent."
        }
        "endpoints" => {
            "Where events are sent, which of them, and the secrets they are signed with. What an endpoint missed can be \
             listed and sent again."
        }
        "events" => {
            "The history of all that happened, in order and without gaps. Deliveries are the fast way to hear of \
             something; this is the sure one."
        }
        "external_references" => "What other systems call an order, written by the merchant.",
        "integration_health" => "Endpoints, open alerts and pending deliveries at a glance.",
        "order_shares" => {
            "One's own orders in the hands of partners: which, with whom, and what of them is shown."
        }
        "orders" => {
            "Orders, and how far their fulfilment has come. Money and status are the authority's to write."
        }
        "partner_connections" => {
            "Merchants that share orders with each other: invited, accepted, ended by either."
        }
        "partner_orders" => "Orders of other merchants, as far as they share them with the reader.",
        "payments" => "Payments, to be read: processors report them through the platform.",
        "recoveries" => "Jobs that send an endpoint again what it missed.",
        "refunds" => {
            "Refunds, to be asked for and read. Money is back when the refund is `completed`, and not when it is asked for."
        }
        "sandbox" => {
            "What the platform, the processor and the carrier would do, for test keys: every event can be had without them."
        }
        "service" => "The description of this API, for everybody.",
        "shipments" => "Parcels of orders. Carriers report on them through the platform.",
        "subscriptions" => "Subscriptions, to be read. Each period that is renewed makes an order.",
        "sync" => "The orders that changed since the reader last asked, each as it is now.",
        "webhooks" => {
            "What is sent to webhook endpoints: a `POST` with an event for every change, signed, at least once and in no \
             particular order. Deduplicate by the event's `id`; accept types and members that are not listed here. An \
             answer is awaited for 15 seconds; the endpoint is left alone for a while after 429, 502, 503, 504 and \
             whatever ends without an answer."
        }
        _ => "",
    }
}

fn of_the_operator(tag: &str) -> &'static str {
    match tag {
        "alerts" => "What the platform's people should look at; they close what they have seen.",
        "api_keys" => "The keys of merchants: issued, replaced, ended.",
        "audit_log" => "Who wrote what, through which operation, and why.",
        "checkouts" => "Checkouts of the platform's pages: opened, completed, given up.",
        "deliveries" => "What is sent to the endpoints of all merchants.",
        "endpoints" => "Any merchant's webhook endpoint: looked at, disabled, enabled.",
        "events" => "The events of all merchants.",
        "merchants" => "Those whose business it is, and their settings.",
        "orders" => "Orders of a merchant: taken in, edited, confirmed, cancelled.",
        "outbox" => "The backlog of all merchants, and for whom it waits.",
        "payments" => "Payments: begun, and what processors report of them.",
        "refunds" => "Refunds of all merchants: what is to be given back, and what processors report of it.",
        "service" => {
            "The state, the figures and the description of the service, for everybody who reaches this listener."
        }
        "shipments" => "What carriers report of parcels.",
        "sink" => {
            "The platform's own webhook endpoint, which hears of everything that happens to any merchant."
        }
        "subscriptions" => "Subscriptions: made, changed, renewed, ended.",
        _ => "",
    }
}
