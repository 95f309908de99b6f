//! `search_documents`, `read_document`, and the same documents as resources: what the program ships
//! ([`crate::documentation`]), so that it is always about this version.

mod ranking;

use std::sync::OnceLock;

use rmcp::model::{ReadResourceResult, Resource, ResourceContents};
use serde_json::json;

use super::arguments::{Arguments, Kind, Parameter, optional, required};
use super::outcome::{ToolError, bounded};
use crate::documentation::{Document, of_merchants};
use ranking::Index;

/// A document that is longer, in bytes, is answered as its outline unless a section is asked for.
const WHOLE_MAX: usize = 32 * 1024;

/// The results when nothing else is asked for.
const RESULTS_DEFAULT: i64 = 5;

/// The arguments of `search_documents`.
pub(super) const SEARCH: &[Parameter] = &[
    required(
        "query",
        Kind::Text { min: 1, max: 400 },
        "Words to look for, such as a code, a member, a header or an event type.",
    ),
    optional("limit", Kind::Integer { min: 1, max: 20 }, "Sections to answer, 5 if it is left out."),
];

/// The arguments of `read_document`.
pub(super) const READ: &[Parameter] = &[
    required("document", Kind::Word(names), "Its name."),
    optional(
        "section",
        Kind::Text { min: 1, max: 200 },
        "The anchor of a section: answers it with what is below it. Without it, a document of more than 32 KiB is \
                answered as its outline.",
    ),
];

fn names() -> Vec<&'static str> {
    of_merchants().map(|document| document.name).collect()
}

/// The sections that fit a query best.
pub(super) fn search(arguments: &Arguments, url: &str) -> Result<String, ToolError> {
    static INDEX: OnceLock<Index> = OnceLock::new();
    let limit = usize::try_from(arguments.integer("limit").unwrap_or(RESULTS_DEFAULT)).unwrap_or(1);
    let found = INDEX.get_or_init(|| Index::of(of_merchants())).search(arguments.required("query"), limit);
    let results: Vec<_> = found
        .iter()
        .map(|hit| {
            json!({
                "document": hit.document.name, "title": hit.document.title, "section": hit.section.title,
                "anchor": hit.section.anchor, "excerpt": hit.excerpt,
                "link": format!("{url}/docs/{}.md#{}", hit.document.name, hit.section.anchor),
            })
        })
        .collect();
    bounded(json!({ "results": results }).to_string())
}

/// A document, its outline, or one of its sections.
pub(super) fn read(arguments: &Arguments) -> Result<String, ToolError> {
    let document = named(arguments.required("document"))
        .ok_or_else(|| ToolError::argument("document", "is no document"))?;
    match arguments.text("section") {
        Some(anchor) => bounded(section(document, anchor)?),
        None if document.text.len() <= WHOLE_MAX => Ok(document.text.to_owned()),
        None => bounded(outline(document)),
    }
}

fn named(name: &str) -> Option<&'static Document> {
    of_merchants().find(|document| document.name == name)
}

/// A section and those below it.
fn section(document: &Document, anchor: &str) -> Result<String, ToolError> {
    let anchor = anchor.trim_start_matches('#');
    let mut sections = document.sections.iter().skip_while(|section| section.anchor != anchor);
    let Some(first) = sections.next() else {
        let detail = "The document has no section with this anchor. Without section it answers its outline.";
        return Err(ToolError::new("section_not_found", detail));
    };
    let below = sections.take_while(|section| section.level > first.level);
    Ok([first].into_iter().chain(below).map(|section| document.text_of(section)).collect())
}

/// The headings with their anchors and sizes, down to the third level.
fn outline(document: &Document) -> String {
    let mut outline =
        format!("{}: {} bytes. Read a section by its anchor.\n\n", document.title, document.text.len());
    for section in document.sections.iter().filter(|section| section.level <= 3) {
        let indent = "  ".repeat(section.level.saturating_sub(1));
        let size = document.text_of(section).len();
        outline.push_str(&format!("{indent}- {} (#{}, {size} bytes)\n", section.title, section.anchor));
    }
    outline
}

/// How the documents are named as resources.
const SCHEME: &str = "authority://docs/";

/// Every document as a resource.
pub(super) fn resources() -> Vec<Resource> {
    let resource = |document: &Document| {
        Resource::new(format!("{SCHEME}{}.md", document.name), document.name)
            .with_title(document.title)
            .with_description(document.summary)
            .with_mime_type("text/markdown")
            .with_size(document.text.len() as u64)
    };
    of_merchants().map(resource).collect()
}

/// The document that a resource's name means.
pub(super) fn resource(uri: &str) -> Option<ReadResourceResult> {
    let document = named(uri.strip_prefix(SCHEME)?.strip_suffix(".md")?)?;
    let contents = ResourceContents::text(document.text, uri).with_mime_type("text/markdown");
    Some(ReadResourceResult::new(vec![contents]))
}
