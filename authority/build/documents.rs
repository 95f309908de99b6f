//! Writes the documents that the program ships: each as Markdown with links that resolve where it is served, the same
//! compressed, and `shipped.rs`, the Rust source that embeds them with their titles and sections.
//!
//! The listed documents are the same on both listeners; the reference of the API and the index are each listener's own.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::list::{LISTED, Listed};
use crate::markdown::{Prepared, prepare};
use crate::{index, reference, write_compressed};

/// The listeners: how their own documents are called, and what they are made of.
const LISTENERS: [(&str, &str); 2] = [("merchant", "MERCHANT"), ("operator", "OPERATOR")];

/// Writes everything below `folder`.
pub(crate) fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=src/documentation/list.rs");
    let mut source = String::new();
    let (mut guides, mut titles) = (Vec::new(), Vec::new());
    for listed in LISTED {
        let path = format!("../{}", listed.source);
        println!("cargo::rerun-if-changed={path}");
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let prepared = prepare(&text, |target| served_as(listed.source, target));
        guides.push(embedded(folder, listed.name, listed.name, listed.summary, &prepared)?);
        titles.push(prepared.title);
    }
    writeln!(source, "pub(crate) static GUIDES: [Document; {}] = [{}];", guides.len(), guides.join(", "))?;
    for (name, constant) in LISTENERS {
        let document: Value = serde_json::from_slice(&fs::read(format!("../docs/openapi/{name}.json"))?)?;
        let own = [
            ("API", "api", reference::SUMMARY, reference::markdown(&document)),
            ("INDEX", "index", index::SUMMARY, index::markdown(&document, name, &titles)),
        ];
        for (kind, served, summary, text) in own {
            let file = format!("{name}-{served}");
            let prepared = prepare(&text?, |_| None);
            let document = embedded(folder, &file, served, summary, &prepared)?;
            writeln!(source, "pub(crate) static {constant}_{kind}: Document = {document};")?;
        }
    }
    Ok(fs::write(folder.join("shipped.rs"), source)?)
}

/// Writes both forms of a document, and returns it as a Rust expression.
fn embedded(
    folder: &Path,
    file: &str,
    name: &str,
    summary: &str,
    prepared: &Prepared,
) -> Result<String, Box<dyn Error>> {
    let Prepared { title, text, sections } = prepared;
    let file = format!("{file}.md");
    fs::write(folder.join(&file), text)?;
    write_compressed(folder, &file, text.as_bytes())?;
    let sections: Vec<String> = sections
        .iter()
        .map(|section| {
            format!(
                "Section {{ level: {}, title: {:?}, anchor: {:?}, start: {}, end: {} }}",
                section.level, section.title, section.anchor, section.start, section.end
            )
        })
        .collect();
    Ok(format!(
        "Document {{ name: {name:?}, title: {title:?}, summary: {summary:?}, \
         text: include_str!(concat!(env!(\"OUT_DIR\"), \"/{file}\")), \
         gzip: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}.gz\")), sections: &[{}] }}",
        sections.join(", ")
    ))
}

/// Where the target of a link in the file `source` is served, relative to the other documents.
fn served_as(source: &str, target: &str) -> Option<String> {
    let (path, fragment) = target.split_once('#').map_or((target, None), |(path, rest)| (path, Some(rest)));
    let mut parts: Vec<&str> = source.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    let Listed { name, .. } = LISTED.iter().find(|listed| listed.source == path)?;
    Some(fragment.map_or_else(|| format!("{name}.md"), |fragment| format!("{name}.md#{fragment}")))
}
