//! A whole document.

use std::collections::BTreeSet;

use anyhow::Result;
use authority::http::routes::Described;
use authority::http::{documents, merchant, operator, sandbox};
use authority_schema::typescript::references;
use serde_json::{Map, Value, json};
use verify_core::catalog::API_VERSION;

use crate::definitions::Definitions;
use crate::responses::Refusals;
use crate::{deliveries, operation, parameters, responses, samples, tags, webhooks};

/// What a document describes: a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// The public listener: the merchant API and the sandbox.
    Merchant,
    /// The operator's.
    Operator,
}

impl Api {
    /// What is where.
    #[must_use]
    pub fn described(self) -> Vec<Described> {
        match self {
            Self::Merchant => merchant::routes()
                .merge(sandbox::routes())
                .merge(documents::of_merchants())
                .described()
                .to_vec(),
            Self::Operator => operator::routes().described().to_vec(),
        }
    }
}

/// The document of `api`.
///
/// # Errors
/// When an operation names something that is not defined.
pub fn document(api: Api, definitions: &Definitions) -> Result<Value> {
    let mut refusals = Refusals::default();
    let mut paths: Map<String, Value> = Map::new();
    let mut used = BTreeSet::new();
    for Described { path, operation } in api.described() {
        let mut written = operation::written(&path, operation, definitions, &mut refusals)?;
        let method = operation.verb.as_str().to_ascii_lowercase();
        written["x-codeSamples"] = samples::of(api, &path, &method, &written)?;
        used.insert(operation::tag(operation));
        let methods = paths.entry(path).or_insert_with(|| json!({}));
        methods[method] = written;
    }
    let webhooks = match api {
        Api::Merchant => webhooks::written(definitions)?,
        Api::Operator => Map::new(),
    };
    used.extend(webhooks.values().next().map(|_| webhooks::TAG.to_owned()));
    let operations = json!([paths, webhooks]);
    let mut responses = refusals.into_components();
    responses.extend(deliveries::answers());
    let responses = referred("responses", responses, &operations);
    let mut parameters = parameters::shared();
    parameters.extend(deliveries::headers());
    parameters.extend(deliveries::optional_headers());
    let roots = json!([operations, responses]);
    let mut document = json!({
        "openapi": "3.1.0",
        "info": info(api),
        "servers": [{ "url": "/", "description": "The listener that serves this document." }],
        "tags": tags_of(api, &used)?,
        "paths": paths,
        "components": {
            "securitySchemes": security_schemes(api),
            "parameters": referred("parameters", parameters, &operations),
            "headers": referred("headers", responses::headers(), &roots),
            "responses": responses,
            "schemas": definitions.reached_from(&roots),
        },
    });
    if !webhooks.is_empty() {
        document["webhooks"] = Value::Object(webhooks);
    }
    Ok(document)
}

/// What is written once for both documents, as far as `roots` refer to it.
fn referred(kind: &str, mut components: Map<String, Value>, roots: &Value) -> Map<String, Value> {
    let names = references(roots, &format!("#/components/{kind}/"));
    components.retain(|name, _| names.contains(name));
    components
}

fn tags_of(api: Api, used: &BTreeSet<String>) -> Result<Vec<Value>> {
    let listed = tags::listed(api, used)?;
    Ok(listed.into_iter().map(|(name, about)| json!({ "name": name, "description": about })).collect())
}

fn info(api: Api) -> Value {
    let (title, description) = match api {
        Api::Merchant => (
            "Merchant Commerce API and sandbox",
            "Orders, payments, refunds, subscriptions, shipments, the event history and webhook endpoints of one merchant. \
             Server to server: the key belongs to a backend and names the merchant and the mode.\n\n\
             Enums are open: a later version may have values that are not listed here, and further members. \
             The sandbox takes test keys alone and plays the platform, the processor and the carrier.",
        ),
        Api::Operator => (
            "Operator API",
            "What the platform tells the authority: merchants, keys, checkouts, orders, and the reports of processors and \
             carriers. It has a listener of its own, which is never reachable from outside.",
        ),
    };
    json!({
        "title": title,
        "version": API_VERSION,
        "description": description,
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    })
}

fn security_schemes(api: Api) -> Value {
    let bearer = |description: &str, format: &str| json!({ "type": "http", "scheme": "bearer", "bearerFormat": format, "description": description });
    match api {
        Api::Merchant => json!({
            "merchantKey": bearer("A merchant's key, live or test. No scope implies another.", "svc_live_… or svc_test_…"),
            "testKey": bearer("A merchant's test key, whatever its scopes.", "svc_test_…"),
            deliveries::SCHEME: deliveries::scheme(),
        }),
        Api::Operator => json!({
            "operatorKey": bearer("An operator's key. No scope implies another.", "svc_op_…"),
        }),
    }
}
