//! The rules of the text as JSON (contract 10.4), through the event reader and through `json::check`.

use serde_json::Value;
use verify_core::event;
use verify_core::json::{Duplicates, Malformed, check};

use crate::delivery::BODY;

/// `"ok"` or the code of this text as an event.
pub(crate) fn read(text: impl AsRef<[u8]>) -> &'static str {
    event::read(text.as_ref()).map_or_else(|code| code.as_str(), |_| "ok")
}

/// Body B with this text as the value of a member of `data.object`.
pub(crate) fn holding(value: &str) -> String {
    BODY.replace(r#"{"object":{}}"#, &format!(r#"{{"object":{{"n":{value}}}}}"#))
}

#[test]
fn encodings() {
    let latin1: Vec<u8> = BODY.replace("\"a\"", "\"é\"").chars().map(|c| c as u8).collect();
    assert_eq!(read(latin1), "invalid_json");
    let utf16: Vec<u8> = BODY.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read(utf16), "invalid_json");
    assert_eq!(read(format!("\u{feff}{BODY}")), "invalid_json");
    for bad in [&b"\xc0\xaf"[..], b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"\xe2\x82", b"\xff"] {
        let at = BODY.find("evt_1").unwrap();
        let text = [&BODY.as_bytes()[..at], bad, &BODY.as_bytes()[at..]].concat();
        assert_eq!(read(text), "invalid_json", "{bad:x?}");
        // Also where the reader has no interest in the value.
        let deep = holding("\"@\"");
        let at = deep.find('@').unwrap();
        let text = [&deep.as_bytes()[..at], bad, &deep.as_bytes()[at + 1..]].concat();
        assert_eq!(read(text), "invalid_json", "{bad:x?}");
    }
}

#[test]
fn what_may_stand_around_the_text() {
    for blank in ["", " ", "\t", "\n", "\r", "\r\n \t"] {
        assert_eq!(read(format!("{blank}{BODY}{blank}")), "ok", "{blank:?}");
    }
    for other in
        ["\0", "\u{b}", "\u{c}", "\u{a0}", "\u{85}", "\u{2028}", "\u{feff}", ",", "}", "{}", "//", "x"]
    {
        assert_eq!(read(format!("{BODY}{other}")), "invalid_json", "{other:?}");
        assert_eq!(read(format!("{other}{BODY}")), "invalid_json", "{other:?}");
        assert_eq!(read(BODY.replacen(':', &format!(":{other}"), 1)), "invalid_json", "{other:?}");
    }
    for blanks in [" ", "\n", " \t\r\n", "        \n"] {
        assert_eq!(read(blanks), "invalid_json", "{blanks:?}");
    }
}

#[test]
fn every_proper_prefix_is_malformed() {
    let text = holding(r#"[1.5e3,"\u00e9\ud83d\uded2\n",true,false,null,{"a":[]}]"#);
    assert_eq!(read(&text), "ok");
    for end in 0..text.len() {
        assert_eq!(read(&text.as_bytes()[..end]), "invalid_json", "{end}");
    }
}

#[test]
fn values_that_are_json() {
    let words = r#"
        0 -0 1 -1 10 1.0 0.5 1e5 1E5 1e+5 1e-5 1.5e-05 0e0 0E+999999 -0.000e99999999999999999999 1e-400
        1e-99999999999999999999 123456789012345678901234567890 1.7976931348623157e308 -1.7976931348623157e308
        17976931348623157e292
        [] {} [[],{}] [1,2] {"":0} {"a":1,"a":2} {"__proto__":{"constructor":1}}
        "" "\"\\\/\b\f\n\r\t" "\u0000" "\u00E9\uabCD" "\ud83d\uded2" "\udbff\udfff"
        true false null"#;
    let with_blanks = ["[ 1 , 2 ]", "{ \"a\" : 1 , \"b\" : 2 }", "\"\u{7f}\u{80}\u{2028}\""];
    for value in words.split_whitespace().chain(with_blanks) {
        assert_eq!(read(holding(value)), "ok", "{value}");
        assert!(serde_json::from_str::<Value>(value).is_ok(), "{value}");
    }
}

#[test]
fn values_that_are_not() {
    let words = r#"
        01 -01 00 - +1 .5 1. -.5 1.e5 1e 1e+ 1E- 1e5.5 1.5.5 0x10 1_000 NaN Infinity -Infinity
        1e999 -1e999 1e309 0.1e310 1.7976931348623159e308 1e99999999999999999999
        True TRUE tru truee nul nulll fals undefined 'a' a /**/1 1//
        [1,] [,1] [,] [1,,2] [1 1] ]
        {1:2} {"a"} {"a":} {"a":1,} {,} {a:1} {'a':1} {"a":1] [1} [1,2} {"a":[}
        " "a "\" "\x" "\u12" "\u12g4" "\u+123" "\U0041" "\'"
        "\ud800" "\udc00" "\ud800\ud800" "\ud800x" "\ud800\n" "\ud800\u0041" "\ud800\ue000" "\udbff\uffff"
        "\udc00\ud800" "\ud83d\ud83d\uded2" "\ud800\u" {"\ud800":1}"#;
    let with_blanks = [
        "",
        "[1 2]",
        "{\"a\":1 \"b\":2}",
        "{\"a\" 1}",
        "\"\\u 123\"",
        "\"\n\"",
        "\"\t\"",
        "\"\0\"",
        "\"\u{1f}\"",
    ];
    for value in words.split_whitespace().chain(with_blanks) {
        assert_eq!(read(holding(value)), "invalid_json", "{value:?}");
        assert!(serde_json::from_str::<Value>(value).is_err(), "{value:?}");
    }
}

#[test]
fn check_says_why() {
    use Duplicates::{Allowed, Refused};
    let table = [
        (&b"{\"a\":[1,2]}"[..], 2, Refused, Ok("{\"a\":[1,2]}")),
        (b" 1 ", 0, Refused, Ok(" 1 ")),
        (
            b"{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":1}]}",
            3,
            Refused,
            Ok("{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":1}]}"),
        ),
        (b"\"\xff\"", 127, Allowed, Err(Malformed::Utf8)),
        (b"{", 127, Allowed, Err(Malformed::Syntax)),
        (b"1 1", 127, Allowed, Err(Malformed::Syntax)),
        (b"", 127, Allowed, Err(Malformed::Syntax)),
        (b"[]", 0, Allowed, Err(Malformed::Depth)),
        (b"[[[]]]", 2, Allowed, Err(Malformed::Depth)),
        (b"\"\\ud800\"", 127, Allowed, Err(Malformed::Surrogate)),
        (b"1e999", 127, Allowed, Err(Malformed::Range)),
        (b"{\"a\":1,\"a\":1}", 127, Allowed, Ok("{\"a\":1,\"a\":1}")),
        (b"{\"a\":1,\"a\":1}", 127, Refused, Err(Malformed::Duplicate)),
        (b"[{\"b\":{\"a\":1,\"\\u0061\":1}}]", 127, Refused, Err(Malformed::Duplicate)),
        (b"{\"a\":{\"b\":1,\"c\":[]},\"b\":1,\"a\":1}", 127, Refused, Err(Malformed::Duplicate)),
    ];
    for (text, depth, duplicates, expected) in table {
        assert_eq!(check(text, depth, duplicates), expected, "{}", String::from_utf8_lossy(text));
    }
    let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    for (limit, depth, fits) in [(64, 64, true), (64, 65, false), (255, 127, true), (255, 128, false)] {
        assert_eq!(check(nested(depth).as_bytes(), limit, Refused).is_ok(), fits, "{limit} {depth}");
    }
}
