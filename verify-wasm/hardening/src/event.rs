//! Events that are nearly right: members from tables of borders, at times twice, missing, moved or escaped.

use arbitrary::{Result, Unstructured};

use crate::json::{nested, write_string, write_value};
use crate::mutation::mutate;
use crate::pick::{mostly, one_of, rarely};

/// How many times a member is right for once that it is wrong.
const MOSTLY: u8 = 60;

const IDS: &[&str] = &["\"evt_1\"", "\"evt_-_\"", "\"\\u0065vt_1\"", "\"evt_0\""];
const WRONG_IDS: &[&str] = &[
    "\"evt_\"",
    "\"evt_ 1\"",
    "\"EVT_1\"",
    "\"evt_\\u00e9\"",
    "\"evt_1\\n\"",
    "\"mer_1\"",
    "null",
    "1",
    "[\"evt_1\"]",
    "\"\"",
];
const TYPES: &[&str] =
    &["\"webhook.test\"", "\"order.paid\"", "\"a.b.c_1\"", "\"a.0\"", "\"order\\u002epaid\""];
const WRONG_TYPES: &[&str] = &[
    "\"webhook\"",
    "\"Webhook.test\"",
    "\"a..b\"",
    "\".a\"",
    "\"a.\"",
    "\"1.a\"",
    "\"a.b \"",
    "\"a-b.c\"",
    "null",
    "{}",
];
const VERSIONS: &[&str] =
    &["\"2026-09-01\"", "\"2024-02-29\"", "\"0001-01-01\"", "\"9999-12-31\"", "\"2000-02-29\""];
const WRONG_VERSIONS: &[&str] = &[
    "\"2026-02-29\"",
    "\"1900-02-29\"",
    "\"0000-01-01\"",
    "\"2026-13-01\"",
    "\"2026-00-10\"",
    "\"2026-04-31\"",
    "\"2026-9-1\"",
    "\"2026-09-01T\"",
    "\"2026-09-00\"",
    "\"-026-09-01\"",
    "\"２026-09-01\"",
    "20260901",
    "null",
];
const TIMES: &[&str] = &[
    "\"2026-09-01T12:00:00.000Z\"",
    "\"2024-02-29T23:59:59.999Z\"",
    "\"0001-01-01T00:00:00.000Z\"",
    "\"9999-12-31T23:59:59.999\\u005a\"",
];
const WRONG_TIMES: &[&str] = &[
    "\"2026-09-01T24:00:00.000Z\"",
    "\"2026-09-01T12:60:00.000Z\"",
    "\"2026-09-01T12:00:60.000Z\"",
    "\"2026-02-30T12:00:00.000Z\"",
    "\"2026-09-01T12:00:00Z\"",
    "\"2026-09-01T12:00:00.000+00:00\"",
    "\"2026-09-01t12:00:00.000z\"",
    "\"2026-09-01 12:00:00.000Z\"",
    "\"0000-09-01T12:00:00.000Z\"",
    "\"2026-09-01T12:00:00.0000Z\"",
    "1788264000",
    "null",
];
const COUNTERS: &[&str] = &[
    "1",
    "0",
    "null",
    "-0",
    "1.0",
    "1e3",
    "9007199254740991",
    "90071992547409910e-1",
    "1e-400",
    "9007199254740991.4",
];
const WRONG_COUNTERS: &[&str] = &[
    "9007199254740992",
    "9007199254740991.5",
    "-1",
    "0.5",
    "1e16",
    "\"1\"",
    "true",
    "[]",
    "{}",
    "0.99999999999999994",
];
const MERCHANTS: &[&str] = &[
    r#"{"id":"mer_1","slug":"a"}"#,
    r#"{"slug":"café 🛒","id":"mer_-_"}"#,
    r#"{"id":"mer_1","slug":"\u0061","extra":{"id":1,"id":2}}"#,
    r#"{"i\u0064":"mer_1", "slug":"\ud83d\uded2"}"#,
];
const WRONG_MERCHANTS: &[&str] = &[
    r#"{"id":"mer_","slug":"a"}"#,
    r#"{"id":"mer_1","slug":""}"#,
    r#"{"id":"mer_1","slug":"\u0000"}"#,
    r#"{"id":"mer_1","slug":"\u0085"}"#,
    r#"{"id":"mer_1","id":"mer_1","slug":"a"}"#,
    r#"{"id":"mer_1","slug":"a","\u0069d":0}"#,
    r#"{"id":"mer_1"}"#,
    r#"{"slug":"a"}"#,
    r#"{"id":1,"slug":"a"}"#,
    "[]",
    "null",
    r#"{"id":"mer_1","slug":["a"]}"#,
    "{}",
];
const WRONG_DATA: &[&str] = &[
    "{}",
    "null",
    "[]",
    r#"{"object":[]}"#,
    r#"{"object":null}"#,
    r#"{"object":{},"object":{}}"#,
    r#"{"object":{},"\u006fbject":1}"#,
    r#"{"OBJECT":{}}"#,
    "\"object\"",
];
const TRAILS: &[&str] = &["\n", " ", "\r\n\t", "\0", "{}", "\u{feff}", "\u{a0}", "\u{c}", "//", ","];

/// Writes the text of an event.
pub(crate) fn event(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut members = members(u)?;
    if rarely(u, 30)? {
        let at = u.choose_index(members.len())?;
        let twice = members.get(at).cloned();
        members.extend(twice);
    }
    if rarely(u, 30)? {
        members.remove(u.choose_index(members.len())?);
    }
    if rarely(u, 4)? {
        let first = u.choose_index(members.len())?;
        members.rotate_left(first);
    }
    let blank = one_of(u, &["", "", " ", "\n  ", "\t\r\n"])?;
    let members: Vec<_> =
        members.iter().map(|(name, value)| format!("{blank}{name}:{blank}{value}")).collect();
    let mut text = format!("{{{}{blank}}}", members.join(","));
    if rarely(u, 30)? {
        text.push_str(one_of(u, TRAILS)?);
    }
    if rarely(u, 100)? {
        text.insert_str(0, one_of(u, &["\u{feff}", " ", "\n", "[", "\0"])?);
    }
    let mut text = text.into_bytes();
    let mutations = *u.choose(&[0, 0, 0, 0, 0, 0, 0, 1, 1, 3])?;
    for _ in 0..mutations {
        mutate(u, &mut text)?;
    }
    Ok(text)
}

type Member = (String, String);

fn members(u: &mut Unstructured<'_>) -> Result<Vec<Member>> {
    let (id, name) = (mostly(u, MOSTLY, IDS, WRONG_IDS)?, mostly(u, MOSTLY, TYPES, WRONG_TYPES)?);
    let mut members = vec![
        ("id", long_or(u, "evt_", [124, 123, 125], id)?),
        ("type", long_or(u, "a.", [126, 125, 127], name)?),
        ("api_version", mostly(u, MOSTLY, VERSIONS, WRONG_VERSIONS)?.to_owned()),
        ("created_at", mostly(u, MOSTLY, TIMES, WRONG_TIMES)?.to_owned()),
        ("merchant", merchant(u)?),
        ("data", data(u)?),
    ];
    for name in ["sequence", "resource_version"] {
        if rarely(u, 3)? {
            members.push((name, mostly(u, MOSTLY, COUNTERS, WRONG_COUNTERS)?.to_owned()));
        }
    }
    if rarely(u, 3)? {
        members.push((
            "livemode",
            mostly(u, MOSTLY, &["true", "false", "null"], &["0", "\"true\"", "{}"])?.to_owned(),
        ));
    }
    for name in ["recipient", "links"] {
        if rarely(u, 5)? {
            members.push((
                name,
                mostly(u, MOSTLY, &["{}", "null", r#"{"a":1,"a":2}"#], &["[]", "0", "\"\"", "false"])?
                    .to_owned(),
            ));
        }
    }
    let mut members = members
        .into_iter()
        .map(|(name, value)| Ok((escaped(u, name)?, value)))
        .collect::<Result<Vec<_>>>()?;
    if rarely(u, 4)? {
        let (mut name, mut value) = (String::new(), String::new());
        write_string(u, &mut name)?;
        write_value(u, 3, &mut value)?;
        members.push((name, value));
    }
    Ok(members)
}

/// A name between quotation marks, at times with one of its letters as an escape.
fn escaped(u: &mut Unstructured<'_>, name: &str) -> Result<String> {
    if !rarely(u, 30)? {
        return Ok(format!("\"{name}\""));
    }
    let at = u.choose_index(name.len())?;
    let letters = name.bytes().enumerate();
    let written = letters
        .map(|(n, byte)| if n == at { format!("\\u{byte:04x}") } else { char::from(byte).to_string() });
    Ok(format!("\"{}\"", written.collect::<String>()))
}

/// A text of a length at its border, the last of them too long, or `otherwise`.
fn long_or(u: &mut Unstructured<'_>, prefix: &str, lengths: [usize; 3], otherwise: &str) -> Result<String> {
    if !rarely(u, 40)? {
        return Ok(otherwise.to_owned());
    }
    let length = *u.choose(&lengths)?;
    Ok(format!("\"{prefix}{}\"", "x".repeat(length)))
}

fn merchant(u: &mut Unstructured<'_>) -> Result<String> {
    if rarely(u, 30)? {
        let length = *u.choose(&[128, 127, 129])?;
        let slug = one_of(u, &["s", "é", "🛒", "\\u0041"])?.repeat(length);
        let id = long_or(u, "mer_", [124, 123, 125], "\"mer_1\"")?;
        return Ok(format!(r#"{{"id":{id},"slug":"{slug}"}}"#));
    }
    Ok(mostly(u, MOSTLY, MERCHANTS, WRONG_MERCHANTS)?.to_owned())
}

fn data(u: &mut Unstructured<'_>) -> Result<String> {
    if rarely(u, MOSTLY)? {
        return Ok(one_of(u, WRONG_DATA)?.to_owned());
    }
    let mut object = String::new();
    match u.int_in_range(0..=3)? {
        0 => {}
        // The root, `data` and `object` are three of the 127.
        1 if rarely(u, 3)? => {
            let depth = *u.choose(&[124, 123, 125, 10, 1000])?;
            object.push_str(&nested(u, depth)?);
        }
        _ => write_value(u, 4, &mut object)?,
    }
    let members = if object.is_empty() { String::new() } else { format!(r#""a":{object}"#) };
    Ok(format!(r#"{{"object":{{{members}}}}}"#))
}
