//! The table of causes: every one is found, in the order that is expected, and the file that other builds read agrees.
//!
//! `tests/vectors/explanations.json` holds the same cases for the npm package's tests. It is made from this table:
//! `WRITE_EXPLANATIONS=1 cargo test -p verify-explain` writes it anew.

use std::collections::BTreeSet;

use verify_explain::Cause;

use crate::case::Case;
use crate::{bodies, contents, headers, secrets};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/explanations.json");
/// Bodies of cases that are about size stay out of the file.
const SHARED_BODY_MAX: usize = 4_096;

pub(crate) fn cases() -> Vec<Case> {
    let right = Case::right().when("right", |_| {}, "ok", &[]);
    [vec![right], bodies::cases(), secrets::cases(), headers::cases(), contents::cases()].concat()
}

#[test]
fn every_case_is_explained() {
    let mut wrong = Vec::new();
    for case in cases() {
        let explanation = case.explanation();
        let causes: Vec<_> = explanation.causes.iter().map(|finding| finding.cause.as_str()).collect();
        if explanation.code() != case.code || causes != case.causes {
            wrong.push(format!("{}: {explanation:#?}, expected {} {:?}", case.name, case.code, case.causes));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_cause_has_a_case_and_every_name_is_its_own() {
    let shown: BTreeSet<String> = cases().into_iter().flat_map(|case| case.causes).collect();
    let causes: BTreeSet<String> = Cause::ALL.iter().map(|cause| cause.as_str().to_owned()).collect();
    assert_eq!(shown, causes);
    assert_eq!(causes.len(), Cause::ALL.len());
    let names: BTreeSet<String> = cases().into_iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases().len());
}

#[test]
fn evidence_and_fix_are_sentences() {
    for case in cases() {
        for finding in case.explanation().causes {
            for text in [finding.evidence.as_str(), finding.cause.fix()] {
                assert!(text.ends_with(['.', ')']) && !text.contains("  "), "{}: {text}", case.name);
                assert!(!text.starts_with(char::is_lowercase), "{text}");
            }
        }
    }
}

#[test]
fn the_shared_file_is_this_table() {
    let shared = |case: &Case| {
        let signature = case.signature.as_ref().map_or(0, String::len);
        case.body.as_ref().map_or(0, Vec::len).max(signature) <= SHARED_BODY_MAX
    };
    let causes: Vec<_> = Cause::ALL.iter().map(|cause| cause.as_str()).collect();
    let cases: Vec<_> = cases().iter().filter(|case| shared(case)).map(line).collect();
    // A line for each case, so that a change of one shows as one.
    let text = format!(
        "{{\n\"note\": \"Made from the table in verify-wasm/explain/tests; see there.\",\n\"causes\": {},\n\"cases\": [\n{}\n]\n}}\n",
        serde_json::to_string(&causes).unwrap(),
        cases.join(",\n")
    );
    if std::env::var_os("WRITE_EXPLANATIONS").is_some() {
        std::fs::write(FILE, &text).unwrap();
    }
    assert!(std::fs::read_to_string(FILE).unwrap() == text, "{FILE} is not what this table says");
}

/// A case with the evidence that it gets here, which every other build has to give as well.
fn line(case: &Case) -> String {
    let evidence = case.explanation().causes.into_iter().map(|finding| finding.evidence).collect();
    serde_json::to_string(&Case { evidence, ..case.clone() }).unwrap()
}
