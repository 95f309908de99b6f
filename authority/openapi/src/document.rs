//! A whole document.

use std::collections::BTreeSet;

use anyhow::Result;
use authority::http::routes::Described;
use authority::http::{documents, merchant, operator, sandbox};
use serde_json::{Map, Value, json};
use verify_core::catalog::API_VERSION;

use crate::definitions::Definitions;
use crate::responses::Refusals;
use crate::{operation, parameters, responses};

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
    let mut tags = BTreeSet::new();
    for Described { path, operation } in api.described() {
        let written = operation::written(&path, operation, definitions, &mut refusals)?;
        tags.insert(operation::tag(operation));
        let methods = paths.entry(path).or_insert_with(|| json!({}));
        methods[operation.verb.as_str().to_ascii_lowercase()] = written;
    }
    let responses = refusals.into_components();
    let schemas = definitions.reached_from(&json!([paths, responses]));
    Ok(json!({
        "openapi": "3.1.0",
        "info": info(api),
        "servers": [{ "url": "/", "description": "The listener that serves this document." }],
        "tags": tags.iter().map(|tag| json!({ "name": tag })).collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "securitySchemes": security_schemes(api),
            "parameters": parameters::shared(),
            "headers": responses::headers(),
            "responses": responses,
            "schemas": schemas,
        },
    }))
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
        }),
        Api::Operator => json!({
            "operatorKey": bearer("An operator's key. No scope implies another.", "svc_op_…"),
        }),
    }
}
