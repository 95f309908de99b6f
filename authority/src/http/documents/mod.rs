//! The API's description of itself, for people and for programs that write programs: `/openapi.json`; `/docs`, a page
//! to read it in; `/llms.txt` and `/docs/<name>.md`, everything in Markdown. On both listeners, without a key.
//!
//! Each listener serves the document of its own API (`docs/openapi`, written by `cargo xtask codegen`). The page
//! is Swagger UI, taken from a crate and built into the program: it loads nothing from elsewhere, and its
//! `Content-Security-Policy` forbids it. The page is read-only: it sends no requests, since a key does not belong
//! in a browser (contract 5.3). Every file but the page itself has an `ETag`, so a client that asks again learns
//! whether there is a new one; like every answer they are `no-store` (contract 5.4). Which Markdown there is says
//! `crate::documentation`.
//!
//! The viewer and the OpenAPI documents are stored compressed only, the others in both forms (`document.rs`).

mod document;

use std::collections::BTreeMap;
use std::sync::Arc;

use authority_domain::{ErrorCode, Refusal};
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};

use super::operation::{Operation, json, plain};
use super::problem::Problem;
use super::routes::Routes;
use crate::documentation::{self, GUIDES};
use document::Document;

/// What is a listener's own.
struct OwnDocuments {
    openapi: Document,
    reference: &'static documentation::Document,
    index: &'static documentation::Document,
}

/// The viewer writes styles into elements and embeds images in its style sheet.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE: &str = include_str!("page.html");
const START: &[u8] = include_bytes!("start.js");
const VIEWER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui-bundle.js.gz"));
const STYLES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui.css.gz"));
const LICENCE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/LICENSE.gz"));

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";

const DOCUMENT: Operation = Operation::get("/openapi.json", "openapi")
    .summary("Read this document, the OpenAPI 3.1 description of the API.")
    .answers(&[json("The document.").conditional()]);

const DOCS: Operation = Operation::get("/docs", "docs")
    .summary("Read the description of the API in a browser.")
    .answers(&[plain(HTML, "The page.")]);

const FILES: Operation = Operation::get("/docs/{file}", "docs.file")
    .summary("Read a document in Markdown, or a file of that page.")
    .details("`index.md` lists the documents; `api.md` is this description.")
    .answers(&[
        plain(MARKDOWN, "A document, a script, the styles or the licence of the viewer.").conditional(),
        plain(SCRIPT, "A script.").conditional(),
        plain(CSS, "The styles.").conditional(),
        plain(TEXT, "The licence of the viewer.").conditional(),
    ]);

const LLMS: Operation = Operation::get("/llms.txt", "llms")
    .summary("Read the list of documents, for programs.")
    .details("Markdown in the form of llmstxt.org, with links to every document.")
    .answers(&[plain(MARKDOWN, "The list.").conditional()]);

/// The routes of the public listener.
#[must_use]
pub fn of_merchants() -> Routes {
    routes(&OwnDocuments {
        openapi: Document::unpacked(
            "application/json",
            include_bytes!(concat!(env!("OUT_DIR"), "/merchant.json.gz")),
        ),
        reference: &documentation::MERCHANT_API,
        index: &documentation::MERCHANT_INDEX,
    })
}

/// The routes of the operator's listener.
pub(super) fn of_the_operator() -> Routes {
    routes(&OwnDocuments {
        openapi: Document::unpacked(
            "application/json",
            include_bytes!(concat!(env!("OUT_DIR"), "/operator.json.gz")),
        ),
        reference: &documentation::OPERATOR_API,
        index: &documentation::OPERATOR_INDEX,
    })
}

fn routes(own: &OwnDocuments) -> Routes {
    let openapi = own.openapi.clone();
    let index = markdown(own.index);
    let files = Arc::new(files(own));
    Routes::new()
        .add(&DOCUMENT, async move |headers: HeaderMap| openapi.answer(&headers))
        .add(&LLMS, async move |headers: HeaderMap| index.answer(&headers))
        .add(&DOCS, async || page())
        .add(&FILES, async move |headers: HeaderMap, name: Result<Path<String>, PathRejection>| {
            match name.ok().and_then(|name| files.get(name.as_str())) {
                Some(file) => file.answer(&headers),
                None => Problem(Refusal::new(ErrorCode::NotFound, "There is no such part of the page."))
                    .into_response(),
            }
        })
}

/// The documents in Markdown and what the page consists of, by their names.
fn files(own: &OwnDocuments) -> BTreeMap<String, Document> {
    let of_the_page = [
        ("start.js", Document::plain(SCRIPT, START)),
        ("swagger-ui-bundle.js", Document::compressed(SCRIPT, VIEWER)),
        ("swagger-ui.css", Document::compressed(CSS, STYLES)),
        ("LICENSE", Document::compressed(TEXT, LICENCE)),
    ];
    let guides = GUIDES.iter().chain([own.reference, own.index]);
    let guides = guides.map(|guide| (format!("{}.md", guide.name), markdown(guide)));
    of_the_page.into_iter().map(|(name, file)| (name.to_owned(), file)).chain(guides).collect()
}

fn markdown(guide: &documentation::Document) -> Document {
    Document::in_both_forms(MARKDOWN, guide.text.as_bytes(), guide.gzip)
}

fn page() -> Response {
    ([(CONTENT_TYPE, HTML), (CONTENT_SECURITY_POLICY, POLICY)], PAGE).into_response()
}
