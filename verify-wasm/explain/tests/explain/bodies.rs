//! Bodies that were changed between the sender's signature and the verifier, each by really doing it.

use std::collections::BTreeMap;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;

use crate::case::{BODY, Case, S2, signature};

const FAILED: &str = "invalid_signature";

/// Everything that can happen to a body.
pub(crate) fn cases() -> Vec<Case> {
    [reserialized(), undone(), wrapped(), suspected()].concat()
}

fn changed(name: &str, change: impl FnOnce(&str) -> String, cause: &str) -> Case {
    bytes(name, |body| change(std::str::from_utf8(body).unwrap()).into_bytes(), cause)
}

fn bytes(name: &str, change: impl FnOnce(&[u8]) -> Vec<u8>, cause: &str) -> Case {
    Case::right().when(name, |case| case.body = Some(change(BODY.as_bytes())), FAILED, &[cause])
}

/// Signed as `original`, received as `body`.
fn received(name: &str, original: &str, body: &str, cause: &str) -> Case {
    Case::of(original).when(name, |case| case.body = Some(body.as_bytes().to_vec()), FAILED, &[cause])
}

fn indented(text: &str, indent: &[u8]) -> String {
    use serde::Serialize as _;
    let value: Value = serde_json::from_str(text).unwrap();
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent);
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, formatter)).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Members in an order that `serde_json`, which sorts them, keeps.
const SORTED: &str = r#"{"api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","data":{"object":{"a":"é/🛒","b":[1,[],{}]}},"id":"evt_1","merchant":{"id":"mer_1","slug":"a"},"type":"order.confirmed"}"#;
/// The same as Python's `json.dumps` writes it.
const PYTHON: &str = r#"{"api_version": "2026-09-01", "created_at": "2026-09-01T12:00:00.000Z", "data": {"object": {"a": "\u00e9/\ud83d\uded2", "b": [1, [], {}]}}, "id": "evt_1", "merchant": {"id": "mer_1", "slug": "a"}, "type": "order.confirmed"}"#;
/// And as PHP's `json_encode` does.
const PHP: &str = r#"{"api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","data":{"object":{"a":"\u00e9\/\ud83d\uded2","b":[1,[],{}]}},"id":"evt_1","merchant":{"id":"mer_1","slug":"a"},"type":"order.confirmed"}"#;

fn reserialized() -> Vec<Case> {
    let cause = "body_reserialized";
    vec![
        received("compact became indented by two", SORTED, &indented(SORTED, b"  "), cause),
        received(
            "compact became indented by four, with a line feed",
            SORTED,
            &(indented(SORTED, b"    ") + "\n"),
            cause,
        ),
        received("compact became what Python writes", SORTED, PYTHON, cause),
        received("compact became what PHP writes", SORTED, PHP, cause),
        received("what Python wrote became compact", PYTHON, SORTED, cause),
        received("what PHP wrote became compact", PHP, SORTED, cause),
        received("indented by two became compact", &indented(SORTED, b"  "), SORTED, cause),
        received("indented by four became compact", &indented(SORTED, b"    "), SORTED, cause),
        received("indented by tabs became compact", &indented(SORTED, b"\t"), SORTED, cause),
        received(
            "indented with a line feed became compact",
            &(indented(SORTED, b"  ") + "\n"),
            SORTED,
            cause,
        ),
        changed("characters became escapes", |body| body.replace('é', "\\u00e9"), cause),
        total("a number lost its decimal place", "1250.0", "1250"),
        total("a number lost two decimal places", "1250.00", "1250"),
        total("a number lost its last zero", "12.50", "12.5"),
        total("a number lost its exponent", "125e1", "1250"),
        total("a number lost its capital exponent", "125E+1", "1250"),
        total("a number got a decimal place", "1250", "1250.0"),
        total("a number got an exponent", "1250", "1.25E3"),
        received(
            "all numbers became doubles, and blanks came",
            BODY,
            &BODY.replace("7,", "7.0, ").replace("1250", "1250.0"),
            cause,
        ),
        received(
            "prices lost their places",
            &BODY.replace("1250", "[12.00,13.50]"),
            &BODY.replace("1250", "[12,13.5]"),
            cause,
        ),
        Case::of(BODY.replace("1250", "12345678901234567891")).when(
            "a number was rounded",
            |case| case.body = Some(BODY.replace("1250", "12345678901234567000").into_bytes()),
            FAILED,
            &[cause, "other_secret_or_bytes"],
        ),
        Case::right().when(
            "written anew, and signed with the second of two secrets",
            |case| {
                case.secrets.insert(0, S2.to_owned());
                case.body = Some(BODY.replace("\":", "\": ").into_bytes());
            },
            FAILED,
            &[cause],
        ),
    ]
}

/// The total was sent in one way and received in another.
fn total(name: &str, sent: &str, arrived: &str) -> Case {
    received(name, &BODY.replace("1250", sent), &BODY.replace("1250", arrived), "body_reserialized")
}

fn undone() -> Vec<Case> {
    let windows_1252 = |byte: u8| match byte {
        0x80..0xa0 => "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ"
            .chars()
            .nth(usize::from(byte) - 0x80)
            .unwrap(),
        _ => char::from(byte),
    };
    let pretty = indented(SORTED, b"  ");
    vec![
        changed("a line feed was added", |body| format!("{body}\n"), "body_newline"),
        changed("CR LF was added", |body| format!("{body}\r\n"), "body_newline"),
        received("a line feed was removed", &format!("{BODY}\n"), BODY, "body_newline"),
        received("CR LF was removed", &format!("{BODY}\r\n"), BODY, "body_newline"),
        changed("blanks were added", |body| format!("  {body} \t"), "body_trimmed"),
        changed("the buffer is longer than the body", |body| format!("{body}\0\0\0"), "body_trimmed"),
        received("LF became CR LF", &pretty, &pretty.replace('\n', "\r\n"), "body_line_endings"),
        received("CR LF became LF", &pretty.replace('\n', "\r\n"), &pretty, "body_line_endings"),
        changed("a byte order mark was added", |body| format!("\u{feff}{body}"), "body_bom"),
        received("a byte order mark was removed", &format!("\u{feff}{BODY}"), BODY, "body_bom"),
        changed("UTF-8 was read as Latin-1", |body| body.bytes().map(char::from).collect(), "body_charset"),
        changed(
            "UTF-8 was read as Windows-1252",
            |body| body.bytes().map(windows_1252).collect(),
            "body_charset",
        ),
        Case::of(BODY.replace('🛒', "ü")).when(
            "the text was written as Latin-1",
            |case| {
                let text = String::from_utf8(case.body.take().unwrap()).unwrap();
                case.body = Some(text.chars().map(|character| character as u8).collect());
            },
            FAILED,
            &["body_charset"],
        ),
        bytes(
            "the text was written as UTF-16",
            |body| std::str::from_utf8(body).unwrap().encode_utf16().flat_map(u16::to_le_bytes).collect(),
            "body_charset",
        ),
    ]
}

fn wrapped() -> Vec<Case> {
    let percent = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
    vec![
        changed("a text was stringified", |body| Value::from(body).to_string(), "body_stringified"),
        changed(
            "a buffer was stringified",
            |body| format!(r#"{{"type":"Buffer","data":{:?}}}"#, body.as_bytes()),
            "body_buffer_json",
        ),
        changed(
            "a typed array was stringified",
            |body| {
                let items: Vec<_> =
                    body.bytes().enumerate().map(|(index, byte)| format!("\"{index}\":{byte}")).collect();
                format!("{{{}}}", items.join(","))
            },
            "body_buffer_json",
        ),
        changed("a gateway encoded the body", |body| BASE64_STANDARD.encode(body), "body_base64"),
        changed(
            "a gateway encoded the body as a string",
            |body| Value::from(BASE64_STANDARD.encode(body)).to_string(),
            "body_base64",
        ),
        changed("the body was sent as a form", |body| percent(body) + "=", "body_form_encoded"),
        changed(
            "the body was sent as a form's field",
            |body| format!("payload={}", percent(body)),
            "body_form_encoded",
        ),
        changed(
            "a form parser read the body",
            |body| serde_json::json!({ body: "" }).to_string(),
            "body_form_encoded",
        ),
    ]
}

/// Nothing is left to be undone; only the looks of the body tell.
fn suspected() -> Vec<Case> {
    let failed = |name: &str, damage: &dyn Fn(&mut Case), cause: &str| {
        Case::right().when(name, damage, FAILED, &[cause, "other_secret_or_bytes"])
    };
    let suspected = |name, change: fn(&[u8]) -> Vec<u8>, cause| {
        failed(name, &|case| case.body = Some(change(BODY.as_bytes())), cause)
    };
    // With a header line of what was sent.
    let sent = |name, (header, value): (&str, &str), body: &str, cause| {
        let damage = |case: &mut Case| {
            case.line(header, value);
            case.body = Some(body.into());
        };
        failed(name, &damage, cause)
    };
    let emptied = |name, header: &str, length: &str, cause: &str| {
        let damage = |case: &mut Case| {
            case.body = Some(Vec::new());
            case.line(header, length);
        };
        Case::right().when(name, damage, "missing_body", &[cause])
    };
    let in_pieces = |body: &[u8]| {
        let at = BODY.find('🛒').unwrap() + 2;
        [&body[..at], &body[at..]].map(String::from_utf8_lossy).concat().into_bytes()
    };
    let sorted = |body: &[u8]| {
        serde_json::to_vec(&serde_json::from_slice::<BTreeMap<String, Value>>(body).unwrap()).unwrap()
    };
    let length = BODY.len().to_string();
    let [longer, other] = ["12500", "1251"].map(|total| BODY.replace("1250", total));
    let none = |case: &mut Case| case.body = None;
    vec![
        suspected("an object was turned into text", |_| b"[object Object]".to_vec(), "body_object_text"),
        suspected("gzip", |_| [&[0x1f, 0x8b, 8, 0][..], &[0; 40]].concat(), "body_compressed"),
        suspected("zstd", |_| [&[0x28, 0xb5, 0x2f, 0xfd][..], &[0; 40]].concat(), "body_compressed"),
        suspected("text was decoded piece by piece", in_pieces, "body_decoded_lossy"),
        suspected("the body was cut off", |body| body[..100].to_vec(), "body_cut_off"),
        suspected("members were sorted", sorted, "body_reserialized"),
        suspected(
            "a value was changed and blanks added",
            |_| BODY.replace("1250", " 1300").into_bytes(),
            "body_reserialized",
        ),
        sent(
            "the body is shorter than it was sent",
            ("Content-Length", &length),
            &BODY[..120],
            "body_cut_off",
        ),
        sent(
            "the body has another length than it was sent with",
            ("content-length", &length),
            &longer,
            "body_length_differs",
        ),
        sent("a framework decompressed the body", ("Content-Encoding", "br"), &other, "body_compressed"),
        suspected(
            "the body is too large to be searched",
            |body| [body, &vec![b' '; 1 << 20]].concat(),
            "body_too_large",
        ),
        Case::right().when(
            "forged",
            |case| case.signature = Some(signature("whsec_unknown", BODY.as_bytes())),
            FAILED,
            &["other_secret_or_bytes"],
        ),
        Case::right().when("no body is left", none, "missing_body", &["body_consumed", "body_not_sent"]),
        emptied("a parser has read the body", "Content-Length", "220", "body_consumed"),
        emptied("no body was sent", "content-length", "0", "body_not_sent"),
    ]
}
