//! The event reader and `json::check` against the slow reference: the same verdict on whatever a mutation makes
//! of an event.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestRunner;
use verify_core::event;
use verify_core::json::{Duplicates, check};

use crate::properties::any_event;
use verify_reference::{Node, event::verdict as reference};

/// Pieces of text that change what a JSON text means.
const PIECES: &[&str] = &[
    "\"",
    "\\",
    "\\u",
    "\\ud800",
    "\\udc00",
    "\\u0069",
    "\\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\n",
    "\t",
    "\0",
    "\u{7f}",
    "é",
    "🛒",
    "\u{feff}",
    "0",
    "1",
    "-",
    ".",
    "e",
    "E+",
    "00",
    "1.0",
    "1e3",
    "1e999",
    "-0",
    "1e-400",
    "9007199254740991",
    "9007199254740992",
    "null",
    "true",
    "false",
    "\"id\":",
    "\"id\":\"evt_1\",",
    "\"data\":{},",
    "\"slug\":\"a\",",
    "\"object\":{},",
    "\"sequence\":",
    "\"links\":null,",
    "\"livemode\":0,",
    "{}",
    "[]",
    "[[[[[[[[",
    "evt_",
    "mer_",
    ".",
    "-02-30",
    "2024-02-29",
    "T24:00:00.000Z",
    "A",
    "_",
    "/",
    "{\"a\":1,\"a\":2}",
];

#[derive(Debug, Clone)]
enum Mutation {
    Insert(Index, &'static str),
    Replace(Index, u8),
    Delete(Index, usize),
    /// Writes a stretch of the text again at another place.
    Copy(Index, usize, Index),
    /// Writes a piece instead of a whole token.
    Token(Index, &'static str),
}

fn any_mutation() -> impl Strategy<Value = Mutation> {
    let piece = || select(PIECES);
    prop_oneof![
        3 => (any::<Index>(), piece()).prop_map(|(at, piece)| Mutation::Insert(at, piece)),
        2 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        2 => (any::<Index>(), 1_usize..12).prop_map(|(at, length)| Mutation::Delete(at, length)),
        1 => (any::<Index>(), 1_usize..60, any::<Index>()).prop_map(|(from, length, to)| Mutation::Copy(from, length, to)),
        4 => (any::<Index>(), piece()).prop_map(|(at, piece)| Mutation::Token(at, piece)),
    ]
}

fn mutate(text: &mut Vec<u8>, mutation: &Mutation) {
    let at = |index: &Index| index.index(text.len() + 1);
    match mutation {
        Mutation::Insert(index, piece) => {
            let at = at(index);
            text.splice(at..at, piece.bytes());
        }
        Mutation::Replace(index, byte) => {
            let at = at(index);
            text.splice(at..(at + 1).min(text.len()), [*byte]);
        }
        Mutation::Delete(index, length) => {
            let at = at(index);
            text.drain(at..(at + length).min(text.len()));
        }
        Mutation::Copy(from, length, to) => {
            let (from, to) = (at(from), at(to));
            let piece = text[from..(from + length).min(text.len())].to_vec();
            text.splice(to..to, piece);
        }
        Mutation::Token(index, piece) => {
            // A token begins behind one of these and ends before the next.
            let edges: Vec<_> = (0..text.len()).filter(|at| b"{}[]:,\"".contains(&text[*at])).collect();
            if let Some(edge) = edges.len().checked_sub(2).map(|last| index.index(last + 1)) {
                text.splice(edges[edge] + 1..edges[edge + 1], piece.bytes());
            }
        }
    }
}

fn verdict(text: &[u8]) -> &'static str {
    event::read(text).map_or_else(|code| code.as_str(), |_| "ok")
}

/// `json::check` against the same tree, in both its manners.
fn compare_check(text: &[u8]) -> Result<(), TestCaseError> {
    let tree = Node::parse(text);
    prop_assert_eq!(check(text, 127, Duplicates::Allowed).is_ok(), tree.is_some());
    let unique = tree.is_some_and(|tree| !tree.repeats_anywhere());
    prop_assert_eq!(check(text, 127, Duplicates::Refused).is_ok(), unique);
    Ok(())
}

#[test]
fn mutated_events_get_the_references_verdict() {
    let seen = RefCell::new(BTreeMap::<&str, u32>::new());
    // Making an event costs more than mutating one, so each is mutated many times.
    let mutants = vec(vec(any_mutation(), 0..4), 24);
    let config = ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&(any_event(), mutants), |(event, mutants)| {
            for mutations in &mutants {
                let mut text = event.clone().into_bytes();
                for mutation in mutations {
                    mutate(&mut text, mutation);
                }
                let expected = reference(&text);
                prop_assert_eq!(verdict(&text), expected, "{}", String::from_utf8_lossy(&text));
                compare_check(&text)?;
                *seen.borrow_mut().entry(expected).or_default() += 1;
            }
            Ok(())
        })
        .unwrap();
    let seen = seen.into_inner();
    println!("{seen:?}");
    // The mutations must reach every verdict, or the comparison proves little.
    assert_eq!(seen.len(), 9, "{seen:?}");
    assert!(seen.values().all(|count| *count >= 20), "{seen:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn soups_of_pieces_get_the_references_verdict(pieces in vec(select(PIECES), 0..24)) {
        let text = pieces.concat();
        prop_assert_eq!(verdict(text.as_bytes()), reference(text.as_bytes()));
        compare_check(text.as_bytes())?;
    }

    #[test]
    fn arbitrary_bytes_get_the_references_verdict(text in vec(any::<u8>(), 0..40)) {
        prop_assert_eq!(verdict(&text), reference(&text));
        compare_check(&text)?;
    }
}
