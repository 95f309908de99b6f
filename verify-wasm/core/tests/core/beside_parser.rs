//! What is read beside a parser is read right: whenever both accept, the reader that is alone accepts too, and reads
//! the same. A parser like JavaScript's accepts whatever RFC 8259 allows, also lone halves of pairs, numbers of any
//! size and any depth. Here it is the grammar of this crate, which other tests compare with `serde_json`, over a text
//! in which the first two are replaced by tame ones; the depth has a test of its own. The package's tests have the
//! real parser.

use proptest::prelude::*;
use verify_core::event;
use verify_core::json::{self, Diligence, Duplicates};

/// Whether `JSON.parse` accepts. Numbers beyond the doubles and halves of pairs are replaced by tame ones first: what
/// is an escape or a number, these tests know because they wrote it.
fn parses(text: &str) -> bool {
    let mut tame = text.replace("\\ud800", "\\u0041").replace("\\uDFFF", "\\u0041");
    for wild in ["1e999", "-1E+400", "9.9e308"] {
        tame = tame.replace(wild, "1");
    }
    let digits = "9".repeat(400);
    tame = tame.replace(&digits, "9");
    json::check(tame.as_bytes(), json::MAX_DEPTH, Duplicates::Allowed).is_ok()
}

fn around(object: &str) -> String {
    format!(
        r#"{{"id":"evt_1","type":"order.paid","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","merchant":{{"id":"mer_1","slug":"a"}},"data":{{"object":{object}}},"links":{{"a":"b"}}}}"#
    )
}

/// Pieces that an object's inside is made of: good ones, wild ones, and ones that are wrong where they stand.
fn piece() -> impl Strategy<Value = String> {
    let pieces = [
        r#""a":1,"#,
        r#""name":"with \"quotes\" and \\","#,
        r#""b":[1,{"c":"]}"},[]],"#,
        r#""u":"\u00e9\n","#,
        r#""pair":"\ud83d\uded2","#,
        r#""half":"\ud800","#,
        r#""low":"x\uDFFF","#,
        r#""e":1e999,"#,
        r#""E":-1E+400,"#,
        r#""f":1e5,"#,
        r#""true":true,"false":false,"#,
        r#""text":"1e999 {[","#,
        r#""slashes":"\\\\\\\"","#,
        "\"open",
        "}",
        "]",
        "[",
        "{",
        ",",
        "\\",
        "\"",
        " ",
        "\n",
        "é",
        "\u{1}",
        "1e",
        "e",
        "\"\\ud83\"",
    ];
    prop_oneof![
        8 => prop::sample::select(pieces.map(str::to_owned).to_vec()),
        1 => (1_usize..200).prop_map(|length| format!(r#""{}":"{}","#, "k".repeat(length), "v".repeat(length))),
        1 => Just(format!(r#""digits":{},"#, "9".repeat(400))),
        1 => (1_usize..140).prop_map(|depth| format!(r#""d":{}{},"#, "[".repeat(depth), "]".repeat(depth))),
        1 => (60_usize..70).prop_map(|length| format!(r#""b":"{}","#, "\\\\".repeat(length))),
    ]
}

fn compare(text: &str) -> Result<(), TestCaseError> {
    let alone = event::read_text(text, Diligence::Alone);
    let beside = event::read_text(text, Diligence::BesideParser);
    if alone.is_ok() {
        prop_assert_eq!(&beside, &alone, "a good text is accepted either way");
    }
    if beside.is_ok() && parses(text) {
        prop_assert_eq!(&beside, &alone, "{}", text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn nothing_passes_beside_a_parser_that_would_not_pass_alone(pieces in prop::collection::vec(piece(), 0..40)) {
        compare(&around(&format!("{{{}\"end\":\"{}\"}}", pieces.concat(), "z".repeat(250))))?;
    }

    #[test]
    fn good_texts_with_one_byte_changed(
        pieces in prop::collection::vec(piece(), 0..12), place in any::<prop::sample::Index>(), with in any::<char>(),
    ) {
        let good = around(&format!("{{{}\"end\":\"{}\"}}", pieces.concat(), "z".repeat(250)));
        let characters: Vec<char> = good.chars().collect();
        let place = place.index(characters.len());
        let changed: String =
            characters.iter().enumerate().map(|(at, one)| if at == place { with } else { *one }).collect();
        compare(&changed)?;
    }
}

#[test]
fn each_thing_that_a_parser_lets_through_is_found_at_every_place() {
    let nested = format!("{}{}", "[".repeat(126), "]".repeat(126));
    let digits = "9".repeat(400);
    for (value, is_fine) in [
        ("1e999", false),
        ("-1E+400", false),
        (r#""\ud800""#, false),
        (r#""\uDFFF""#, false),
        (digits.as_str(), false),
        (nested.as_str(), false),
        (r#""\ud83d\uded2""#, true),
        ("1e5", true),
        (r#""\\ud800""#, true),
        (r#""1e999""#, true),
        (r#""\\\"{[""#, true),
    ] {
        for before in 0..130 {
            let object = format!(r#"{{"a":"{}","b":{value},"c":"{}"}}"#, "x".repeat(before), "y".repeat(300));
            let text = around(&object);
            let verdict = event::read_text(&text, Diligence::BesideParser);
            assert_eq!(verdict.is_ok(), is_fine, "{text}");
            assert_eq!(verdict, event::read_text(&text, Diligence::Alone));
        }
    }
}
