//! Parameters: of paths, of queries, and the headers of requests.

use anyhow::{Result, bail};
use authority::http::operation::{Access, Operation};
use authority_domain::list_filter::{Form, Parameter};
use serde_json::{Map, Value, json};
use verify_core::EventType;
use verify_core::catalog::API_VERSION;

/// Visible characters without the quotation mark, plain or within one pair of them (contract 18.1).
const IDEMPOTENCY_KEY: &str = r#"^([!#-~]{1,255}|"[!#-~]{1,255}")$"#;

/// The parameters of an operation, those that many have by reference.
pub(crate) fn of(path: &str, operation: &Operation) -> Result<Vec<Value>> {
    let mut parameters = Vec::new();
    for name in path.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
        parameters.push(in_path(name)?);
    }
    parameters.extend(operation.query.iter().map(in_query));
    let with_key = operation.access != Access::Everybody;
    let conditional = operation.answers.iter().any(|answer| answer.conditional);
    let limit = if operation.has_resume_cursor() { "FeedLimit" } else { "Limit" };
    let shared = [
        (operation.is_list(), limit),
        (operation.is_list(), "Cursor"),
        (with_key, "Service-Version"),
        (with_key && operation.verb.writes(), "Idempotency-Key"),
        (conditional, "If-None-Match"),
    ];
    let referred = shared.into_iter().filter(|(wanted, _)| *wanted);
    parameters.extend(referred.map(|(_, name)| json!({ "$ref": format!("#/components/parameters/{name}") })));
    if let Some(whose) = operation.if_match {
        let description =
            format!("The version of the {whose} that the change is made for, as its `ETag` gives it.");
        parameters.push(json!({ "name": "If-Match", "in": "header", "description": description,
            "schema": { "type": "string", "pattern": r#"^(\*|(W/)?"(0|[1-9][0-9]{0,14})"|0|[1-9][0-9]{0,14})$"# },
            "example": "\"7\"" }));
    }
    Ok(parameters)
}

/// The parameters that operations refer to.
pub(crate) fn shared() -> Map<String, Value> {
    let limit = |default: u16| {
        json!({ "name": "limit", "in": "query", "description": "Items per page.",
            "schema": { "type": "integer", "minimum": 1, "maximum": 100, "default": default } })
    };
    let members = [
        ("Limit", limit(25)),
        ("FeedLimit", limit(100)),
        (
            "Cursor",
            json!({ "name": "cursor", "in": "query",
                "description": "Where the page begins: `next_cursor` or `resume_cursor` of another page of this list, as it came. Empty or absent: from the start.",
                "schema": { "type": "string" } }),
        ),
        (
            "Service-Version",
            json!({ "name": "Service-Version", "in": "header", "description": "The version of the contract that the client knows.",
                "schema": { "type": "string", "const": API_VERSION } }),
        ),
        (
            "Idempotency-Key",
            json!({ "name": "Idempotency-Key", "in": "header",
                "description": "Names the logical write: a repeated request is answered as the first one was, and done once. One that is used for another request is refused. In double quotes it is the same key.",
                "schema": { "type": "string", "minLength": 1, "maxLength": 257, "pattern": IDEMPOTENCY_KEY }, "example": "refund:ORD-100001:return-9" }),
        ),
        (
            "If-None-Match",
            json!({ "name": "If-None-Match", "in": "header",
                "description": "The versions that the reader has: where the present one is among them, the answer is 304 without a body.",
                "schema": { "type": "string" }, "example": "\"7\"" }),
        ),
    ];
    members.into_iter().map(|(name, parameter)| (name.to_owned(), parameter)).collect()
}

/// What a path parameter is.
fn in_path(name: &str) -> Result<Value> {
    let (schema, description) = match name {
        "order" => (order_number(), "The number of the order."),
        "mode" => (json!({ "type": "string", "enum": ["live", "test"] }), "Live or test."),
        "system" => (
            json!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,31}$" }),
            "The name of the other system.",
        ),
        "file" => (json!({ "type": "string" }), "A file of the page."),
        "checkout" => (id("chk"), "The checkout."),
        "payment" => (id("pay"), "The payment."),
        "refund" => (id("rfd"), "The refund."),
        "shipment" => (id("shp"), "The shipment."),
        "subscription" => (id("sub"), "The subscription."),
        "event" => (id("evt"), "The event."),
        "endpoint" => (id("we"), "The webhook endpoint."),
        "delivery" => (id("dlv"), "The delivery."),
        "recovery" => (id("rcv"), "The recovery."),
        "merchant" => (id("mer"), "The merchant."),
        "key" => (id("key"), "The record of the key."),
        "alert" => (id("alt"), "The alert."),
        "connection" => (id("pcn"), "The partner connection."),
        "share" => (id("osh"), "The order share."),
        _ => bail!("nothing is known of the path parameter {name}"),
    };
    Ok(json!({ "name": name, "in": "path", "required": true, "description": description, "schema": schema }))
}

fn in_query(parameter: &Parameter) -> Value {
    let list = |items: Value| json!({ "type": "array", "items": items, "minItems": 1, "maxItems": 64 });
    let (schema, is_list) = match parameter.form {
        Form::Words(words) => (list(json!({ "type": "string", "enum": words() })), true),
        Form::EventTypes => (list(json!({ "type": "string", "enum": event_types() })), true),
        Form::Time => (json!({ "type": "string", "format": "date-time" }), false),
        Form::Text => (
            json!({ "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$" }),
            false,
        ),
        Form::Id(prefix) => (id(prefix), false),
        Form::Mode => (json!({ "type": "string", "enum": ["live", "test"] }), false),
        Form::Flag => (json!({ "type": "boolean" }), false),
    };
    let at_most = if is_list { " At most 64 values." } else { "" };
    let description = format!("{}{at_most}", parameter.about);
    let mut written =
        json!({ "name": parameter.name, "in": "query", "description": description, "schema": schema });
    if is_list {
        written["style"] = json!("form");
        written["explode"] = json!(false);
    }
    written
}

/// Every type, and all of each category.
fn event_types() -> Vec<String> {
    let mut names: Vec<String> = EventType::ALL.iter().map(|event| event.as_str().to_owned()).collect();
    let mut categories: Vec<String> =
        EventType::ALL.iter().map(|event| format!("{}.*", event.category())).collect();
    categories.dedup();
    names.extend(categories);
    names
}

fn id(prefix: &str) -> Value {
    json!({ "type": "string", "pattern": format!("^{prefix}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$") })
}

fn order_number() -> Value {
    json!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" })
}
