//! The OpenAPI documents of the authority: one for the public listener (merchant API and sandbox), one for the
//! operator's.
//!
//! They are written from what the service itself goes by: the operations that stand beside the routes
//! (`authority::http::operation`), the records that are serialised (`authority-schema`), the readers of bodies
//! (`authority_domain::body_shapes::shapes`), the catalogues of errors and of events. [`documents`] puts these
//! together; `cargo xtask codegen` writes them to `docs/openapi`, where people read them and the service takes them
//! from; a test compares.
//!
//! The documents are put together as JSON and not by a crate with a type for each part: those crates have types of
//! their own for schemas, which would not carry ours as they are. Whether the form is OpenAPI 3.1 is what the linter,
//! the generator of the test's client and schemathesis say. No part of the service. Deliberately absent: a fact of
//! its own.

#![expect(clippy::indexing_slicing, reason = "JSON that is made here, by a program that people run")]

pub mod client;
mod definitions;
mod deliveries;
mod document;
mod examples;
mod meanings;
mod operation;
mod parameters;
mod responses;
mod samples;
mod tags;
mod webhooks;

use anyhow::{Context as _, Result};
use serde_json::Value;

pub use self::definitions::Definitions;
pub use self::document::{Api, document};

/// A document, and where it is kept.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its file, below `docs/openapi`.
    pub file: &'static str,
    /// What it says.
    pub content: Value,
}

/// Both documents.
///
/// # Errors
/// When an operation names something that is not defined.
pub fn documents() -> Result<Vec<Document>> {
    let definitions = Definitions::of_everything();
    [("merchant.json", Api::Merchant), ("operator.json", Api::Operator)]
        .into_iter()
        .map(|(file, api)| {
            let content = document(api, &definitions).with_context(|| format!("{file} cannot be written"))?;
            Ok(Document { file, content })
        })
        .collect()
}

impl Document {
    /// As it is kept: for people, with a line end.
    ///
    /// # Errors
    /// When it is no JSON.
    pub fn text(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(&self.content)? + "\n")
    }
}
