//! A header that is absent or blank: what else of a delivery is there, and under which names.
//!
//! Only names of headers are told, and only names that are those of a delivery or of a service that is widely known.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use verify_core::header::{EVENT_ID, SIGNATURE, TIMESTAMP, VERSION};
use verify_core::standard_webhooks;

use crate::Delivery;
use crate::cause::Cause;
use crate::report::Finding;
use crate::text::{count, list, trim};

/// Signature headers of other services, which are sometimes sent to the wrong address.
const FOREIGN: [(&str, &str); 4] = [
    ("stripe-signature", "Stripe-Signature"),
    ("svix-signature", "Svix-Signature"),
    ("x-hub-signature-256", "X-Hub-Signature-256"),
    ("x-shopify-hmac-sha256", "X-Shopify-Hmac-Sha256"),
];

/// Why the header of this name is absent or blank.
pub(crate) fn causes(name: &'static str, delivery: &Delivery<'_>) -> Vec<Finding> {
    let shown = display(name);
    if value(name, delivery).is_some_and(|value| trim(value).is_empty()) {
        return vec![Finding::new(Cause::HeaderBlank, format!("{shown} is there and has no value."))];
    }
    if let Some(evidence) = renamed(name, delivery) {
        return vec![Finding::new(Cause::HeaderRenamed, evidence)];
    }
    let present: Vec<&str> = [TIMESTAMP, SIGNATURE, EVENT_ID, VERSION]
        .into_iter()
        .filter(|name| is_there(name, delivery))
        .collect();
    if !present.is_empty() {
        let verb = if present.len() == 1 { "is" } else { "are" };
        let present: Vec<&str> = present.into_iter().map(display).collect();
        let evidence = format!("{} {verb} there, {shown} is not.", list(&present));
        return vec![Finding::new(Cause::HeaderDropped, evidence)];
    }
    let mut evidence = String::from("None of the headers that begin with Service- is there");
    let foreign = FOREIGN.iter().find(|(name, _)| has_line(name, delivery));
    let is_shared = has_line(standard_webhooks::SIGNATURE, delivery);
    match (foreign, delivery.lines.len()) {
        (Some((_, shown)), _) => {
            evidence.push_str(&format!(", but {shown} is, which is that of another service."));
        }
        (None, _) if is_shared => evidence.push_str(
            ", but webhook-signature is. Endpoints with the profile standard-webhooks have it beside them, and so have \
             other services.",
        ),
        (None, 0) => evidence.push_str(", nor was any other header handed in."),
        (None, others) => evidence.push_str(&format!(" among {}.", count(others, "header line"))),
    }
    vec![Finding::new(Cause::NotADelivery, evidence)]
}

/// The spelling on HTTP/1.1.
pub(crate) fn display(name: &str) -> &'static str {
    match name {
        TIMESTAMP => "Service-Timestamp",
        SIGNATURE => "Service-Signature",
        EVENT_ID => "Service-Event-Id",
        _ => "Service-Version",
    }
}

fn value<'a>(name: &str, delivery: &Delivery<'a>) -> Option<&'a [u8]> {
    match name {
        TIMESTAMP => delivery.headers.timestamp,
        SIGNATURE => delivery.headers.signature,
        _ => delivery.headers.event_id,
    }
}

fn is_there(name: &str, delivery: &Delivery<'_>) -> bool {
    (name != VERSION && value(name, delivery).is_some()) || has_line(name, delivery)
}

fn has_line(name: &str, delivery: &Delivery<'_>) -> bool {
    delivery.lines.iter().any(|line| line.name.eq_ignore_ascii_case(name))
}

/// Whether the header is there as a CGI variable, with underscores, or behind `X-`.
fn renamed(name: &str, delivery: &Delivery<'_>) -> Option<String> {
    let line = delivery.lines.iter().find(|line| {
        let dashed = |byte: u8| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
        let is_name = |plain: &str| plain.bytes().map(dashed).eq(name.bytes());
        let behind = |prefix: &str| {
            let (start, rest) = line.name.split_at_checked(prefix.len())?;
            start.bytes().map(dashed).eq(prefix.bytes()).then_some(rest)
        };
        let is_other = !line.name.eq_ignore_ascii_case(name);
        is_other && ["", "x-", "http-"].into_iter().filter_map(behind).any(is_name)
    })?;
    // Apart from case and underscores this is our own header's name, so it can be repeated.
    Some(format!("{} is not there, but a header named {} is.", display(name), line.name))
}
