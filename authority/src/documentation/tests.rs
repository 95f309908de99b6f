//! The list of documents, compared with the repository.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::list::{LISTED, Listed};
use super::*;

/// Files of `docs/` that are not for those who use the program.
const EXCLUDED: [&str; 0] = [];

#[test]
fn every_document_of_the_repository_is_listed_or_excluded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let there: BTreeSet<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".md"))
        .map(|name| format!("docs/{name}"))
        .collect();
    let excluded = EXCLUDED.map(str::to_owned);
    let listed = LISTED.iter().map(|listed| listed.source.to_owned());
    let known: BTreeSet<String> =
        listed.filter(|source| source.starts_with("docs/")).chain(excluded).collect();
    assert_eq!(there, known);
}

#[test]
fn documents_are_whole_and_their_sections_cover_them() {
    for document in of_merchants().chain([&OPERATOR_API, &MERCHANT_INDEX, &OPERATOR_INDEX]) {
        let sections: String = document.sections.iter().map(|section| document.text_of(section)).collect();
        assert_eq!(sections, document.text, "{}", document.name);
        assert!(!document.title.is_empty() && !document.summary.is_empty(), "{}", document.name);
        let anchors: BTreeSet<_> = document.sections.iter().map(|section| section.anchor).collect();
        assert_eq!(
            anchors.len(),
            document.sections.len(),
            "{}: every section has its own anchor",
            document.name
        );
    }
    let shipped: Vec<_> = GUIDES.iter().map(|document| (document.name, document.summary)).collect();
    let listed: Vec<_> = LISTED.iter().map(|listed| (listed.name, listed.summary)).collect();
    assert_eq!(shipped, listed);
    for Listed { name, optional, .. } in LISTED {
        let part = MERCHANT_INDEX.text.split("## Optional").nth(usize::from(*optional)).unwrap();
        assert!(part.contains(&format!("](/docs/{name}.md): ")), "{name}");
    }
}
