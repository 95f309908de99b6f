//! What merchants do with webhook endpoints and ask of deliveries (contract 2.8, 2.9, 2.12, 4.4, 4.9, 4.10), beyond
//! the acceptance checks A14 to A18, with a real receiver, on both databases.

mod changes;
mod client_certificate;
mod conditional;
mod deliveries;
mod health;
mod options;
mod profile;
mod replay;

use http::Method;
use serde_json::Value;
use tests::http::{Api, Call};

/// The path of an endpoint.
fn at(id: &str) -> String {
    format!("/webhook-endpoints/{id}")
}

fn patch(api: &Api, id: &str, body: &Value) -> Call {
    api.call(Method::PATCH, &at(id)).json(body)
}

fn delete(api: &Api, id: &str) -> Call {
    api.call(Method::DELETE, &at(id))
}
