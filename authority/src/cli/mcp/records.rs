//! `list_records` and `get_record`: what the merchant API's readers answer, as they answer it.
//!
//! A table names the resources and their paths; a test compares it with the operations of the API. Filters are passed
//! on: the API knows them and names the one that is wrong. A page that would be larger than a tool may answer is asked
//! for again with a smaller limit, so that its cursor fits it.

use serde_json::Value;

use super::arguments::{Arguments, Kind, Parameter, optional, required};
use super::outcome::{RESULT_LIMIT, ToolError, bounded};
use crate::dev::client::{Api, encoded};

/// A resource by the name that tools have for it.
struct Resource {
    name: &'static str,
    /// Where it is listed; `{}` stands for the record it belongs to.
    list: Option<&'static str>,
    /// Where one is read; `{}` stands for its id.
    get: Option<&'static str>,
}

const fn resource(name: &'static str, list: &'static str, get: &'static str) -> Resource {
    Resource { name, list: Some(list), get: Some(get) }
}

const RESOURCES: [Resource; 16] = [
    resource("orders", "/orders", "/orders/{}"),
    resource("payments", "/payments", "/payments/{}"),
    resource("refunds", "/refunds", "/refunds/{}"),
    resource("shipments", "/orders/{}/shipments", "/shipments/{}"),
    resource("subscriptions", "/subscriptions", "/subscriptions/{}"),
    resource("events", "/events", "/events/{}"),
    resource("webhook-endpoints", "/webhook-endpoints", "/webhook-endpoints/{}"),
    resource("deliveries", "/webhook-endpoints/{}/deliveries", "/deliveries/{}"),
    Resource { name: "undelivered", list: Some("/webhook-endpoints/{}/undelivered"), get: None },
    Resource { name: "endpoint-recoveries", list: None, get: Some("/endpoint-recoveries/{}") },
    resource("partner-connections", "/partner-connections", "/partner-connections/{}"),
    resource("partner-orders", "/partner-orders", "/partner-orders/{}"),
    Resource { name: "order-shares", list: Some("/order-shares"), get: None },
    Resource { name: "order-changes", list: Some("/sync/orders"), get: None },
    Resource { name: "checkpoints", list: Some("/sync/checkpoints"), get: None },
    Resource { name: "integration-health", list: None, get: Some("/integration-health") },
];

/// The records of a page when nothing else is asked for.
const LIMIT_DEFAULT: i64 = 10;

/// The arguments of `list_records`.
pub(super) const LIST: &[Parameter] = &[
    required("resource", Kind::Word(listed), "What to list."),
    optional(
        "of",
        Kind::Text { min: 1, max: 128 },
        "The record it belongs to: for shipments the order's number, for deliveries and undelivered the \
                endpoint's id.",
    ),
    optional(
        "filters",
        Kind::Values { max: 16 },
        "Query parameters of the list, such as {\"status\": [\"confirmed\"], \"created_from\": \
                \"2026-01-01T00:00:00Z\"}; read the document \"api\" for those that a list has.",
    ),
    optional(
        "limit",
        Kind::Integer { min: 1, max: 100 },
        "Records per page, 10 if it is left out. A page may have fewer, so that it is not too large.",
    ),
    optional("cursor", Kind::Text { min: 1, max: 2048 }, "next_cursor of the page before."),
];

/// The arguments of `get_record`.
pub(super) const GET: &[Parameter] = &[
    required("resource", Kind::Word(readable), "What to read."),
    optional(
        "id",
        Kind::Text { min: 1, max: 128 },
        "Its id, for orders the number. Integration health has none.",
    ),
];

fn listed() -> Vec<&'static str> {
    RESOURCES.iter().filter(|resource| resource.list.is_some()).map(|resource| resource.name).collect()
}

fn readable() -> Vec<&'static str> {
    RESOURCES.iter().filter(|resource| resource.get.is_some()).map(|resource| resource.name).collect()
}

/// A page of a list.
pub(super) async fn list(api: &Api, arguments: &Arguments) -> Result<String, ToolError> {
    let path = path(arguments, |resource| resource.list, "of")?;
    let mut query = String::new();
    for (name, value) in arguments.members("filters") {
        query.push_str(&format!("&{}={}", encoded(name), encoded(&filter(value))));
    }
    if let Some(cursor) = arguments.text("cursor") {
        query.push_str(&format!("&cursor={}", encoded(cursor)));
    }
    let mut limit = arguments.integer("limit").unwrap_or(LIMIT_DEFAULT);
    loop {
        let page = api.get(&format!("{path}?limit={limit}{query}")).await?;
        if page.body.len() <= RESULT_LIMIT || limit == 1 {
            return bounded(text(&page.body)?);
        }
        limit = (limit / 2).max(1);
    }
}

/// One record.
pub(super) async fn get(api: &Api, arguments: &Arguments) -> Result<String, ToolError> {
    let path = path(arguments, |resource| resource.get, "id")?;
    bounded(text(&api.get(&path).await?.body)?)
}

/// Where a delivery is read.
pub(super) fn delivery_path(id: &str) -> String {
    format!("/deliveries/{}", encoded(id))
}

/// The path of the resource that is asked for, with the argument `inner` in it if it has a place for it.
fn path(
    arguments: &Arguments,
    which: impl Fn(&Resource) -> Option<&'static str>,
    inner: &str,
) -> Result<String, ToolError> {
    let name = arguments.required("resource");
    let path = RESOURCES.iter().find(|resource| resource.name == name).and_then(which).unwrap_or_default();
    match (path.contains("{}"), arguments.text(inner)) {
        (true, Some(id)) => Ok(path.replace("{}", &encoded(id).to_string())),
        (false, None) => Ok(path.to_owned()),
        (true, None) => Err(ToolError::argument(inner, format!("is required for {name}"))),
        (false, Some(_)) => Err(ToolError::argument(inner, format!("does not go with {name}"))),
    }
}

/// Lists are separated by commas (contract 4.5).
fn filter(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

fn text(body: &[u8]) -> Result<String, ToolError> {
    let unreadable = |_| ToolError::new("unexpected_answer", "The answer is not UTF-8.");
    String::from_utf8(body.to_vec()).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::http::merchant;
    use crate::http::operation::Verb;

    #[test]
    fn every_reader_of_the_merchant_api_is_a_resource() {
        // The parameters of the API have names.
        let unnamed = |path: &str| {
            let part = |part: &str| if part.starts_with('{') { "{}".to_owned() } else { part.to_owned() };
            path.split('/').map(part).collect::<Vec<_>>().join("/")
        };
        let routes = merchant::routes();
        let readers = routes.described().iter().filter(|route| route.operation.verb == Verb::Get);
        let readers: BTreeSet<(String, bool)> = readers
            .filter_map(|route| {
                Some((unnamed(route.path.strip_prefix("/v1/merchant")?), route.operation.is_list()))
            })
            .collect();
        let lists = RESOURCES.iter().filter_map(|resource| Some((resource.list?.to_owned(), true)));
        let singles = RESOURCES.iter().filter_map(|resource| Some((resource.get?.to_owned(), false)));
        assert_eq!(readers, lists.chain(singles).collect());
    }
}
