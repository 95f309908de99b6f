//! The API's description of itself: `/openapi.json`, and `/docs`, a page to read it in. On both listeners, without
//! a key.
//!
//! Each listener serves the document of its own API (`docs/openapi`, written by `cargo xtask codegen`). The page
//! is Swagger UI, taken from a crate and built into the program: it loads nothing from elsewhere, and its
//! `Content-Security-Policy` forbids it. The page is read-only: it sends no requests, since a key does not belong
//! in a browser (contract 5.3). The documents have an `ETag`, so a client that asks again learns whether there is
//! a new one; like every answer they are `no-store` (contract 5.4).
//!
//! The viewer is stored compressed, as every browser accepts it, and is sent that way also to clients that do not
//! say what they accept.

use authority_domain::error_code::ErrorCode;
use authority_domain::refusal::Refusal;
use axum::body::Body;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};
use sha2::{Digest, Sha256};

use super::operation::{Operation, json, plain};
use super::problem::Problem;
use super::routes::Routes;

/// Merchant API and sandbox.
const MERCHANT: &str = include_str!("../../../../docs/openapi/merchant.json");
/// Operator API.
const OPERATOR: &str = include_str!("../../../../docs/openapi/operator.json");

/// The viewer writes styles into elements and embeds images in its style sheet.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE: &str = include_str!("page.html");
const START: &str = include_str!("start.js");
const VIEWER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui-bundle.js.gz"));
const STYLES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui.css.gz"));
const LICENCE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/LICENSE.gz"));

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

const DOCUMENT: Operation =
    Operation::get("/openapi.json", "openapi", "Read this document, the OpenAPI 3.1 description of the API.")
        .answers(&[json("The document.").conditional()]);

const DOCS: Operation = Operation::get("/docs", "docs", "Read the description of the API in a browser.")
    .answers(&[plain(HTML, "The page.")]);

const FILES: Operation = Operation::get("/docs/{file}", "docs.file", "Read a file of that page.").answers(&[
    plain(SCRIPT, "A script."),
    plain("text/css; charset=utf-8", "The styles."),
    plain("text/plain; charset=utf-8", "The licence of the viewer."),
]);

/// The routes of the public listener.
#[must_use]
pub fn of_merchants() -> Routes {
    routes(MERCHANT)
}

/// The routes of the operator's listener.
pub(super) fn of_the_operator() -> Routes {
    routes(OPERATOR)
}

fn routes(document: &'static str) -> Routes {
    let tag = HeaderValue::try_from(format!("\"{}\"", hex::encode(Sha256::digest(document)))).ok();
    Routes::new()
        .add(&DOCUMENT, async move |headers: HeaderMap| answer(document, tag, &headers))
        .add(&DOCS, async || page())
        .add(&FILES, async |file: Result<Path<String>, PathRejection>| {
            part(file.as_ref().map_or("", |file| file))
        })
}

fn answer(document: &'static str, tag: Option<HeaderValue>, headers: &HeaderMap) -> Response {
    let mut response = ([(CONTENT_TYPE, "application/json")], document).into_response();
    if let Some(tag) = tag {
        let mut known = headers.get_all(IF_NONE_MATCH).iter();
        if known
            .any(|line| line == "*" || line.as_bytes().windows(tag.len()).any(|part| part == tag.as_bytes()))
        {
            response = StatusCode::NOT_MODIFIED.into_response();
        }
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

fn page() -> Response {
    ([(CONTENT_TYPE, HTML), (CONTENT_SECURITY_POLICY, POLICY)], PAGE).into_response()
}

fn part(file: &str) -> Response {
    let compressed = |media_type: &'static str, bytes: &'static [u8]| {
        ([(CONTENT_TYPE, media_type), (CONTENT_ENCODING, "gzip")], Body::from(bytes)).into_response()
    };
    match file {
        "start.js" => ([(CONTENT_TYPE, SCRIPT)], START).into_response(),
        "swagger-ui-bundle.js" => compressed(SCRIPT, VIEWER),
        "swagger-ui.css" => compressed("text/css; charset=utf-8", STYLES),
        "LICENSE" => compressed("text/plain; charset=utf-8", LICENCE),
        _ => Problem(Refusal::new(ErrorCode::NotFound, "There is no such part of the page.")).into_response(),
    }
}
