//! The canonical form of a JSON text (contract 4.3): members sorted by name, insignificant blanks removed, escapes in
//! strings resolved, numbers as they were written.
//!
//! The text was checked before ([`crate::body::strict_json`]), so its parts are found by their first and last
//! characters alone. It is walked once, whatever its depth: a server computes this for everybody who sends a body with
//! an idempotency key. `serde_json` would change numbers, unless its `arbitrary_precision` were on, and features are
//! shared by everything in one build.

use std::borrow::Cow;

/// The canonical form of a checked text in which at most `depth` containers are nested. `None`: it is none.
pub(super) fn canonical(text: &str, depth: u8) -> Option<String> {
    let mut rest = Rest(text);
    let value = rest.value(depth)?;
    let mut out = String::with_capacity(text.len());
    value.write(&mut out)?;
    Some(out)
}

/// A value, with the members of its objects in order.
enum Value<'t> {
    /// A string, a number or a word, as the canonical form writes it.
    Plain(Cow<'t, str>),
    Array(Vec<Value<'t>>),
    Object(Vec<(Cow<'t, str>, Value<'t>)>),
}

/// The text from where the walk is.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    /// Takes a value in which so many containers may be nested.
    fn value(&mut self, room: u8) -> Option<Value<'t>> {
        self.skip_blanks();
        match self.0.as_bytes().first()? {
            b'{' => self.object(room.checked_sub(1)?),
            b'[' => self.array(room.checked_sub(1)?),
            b'"' => {
                let quoted = self.quoted()?;
                let plain =
                    if has_escapes(quoted) { Cow::Owned(quote(&unquote(quoted)?)?) } else { quoted.into() };
                Some(Value::Plain(plain))
            }
            _ => {
                let ends = |byte| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
                let length = self.0.bytes().position(ends).unwrap_or(self.0.len());
                Some(Value::Plain(self.take(length)?.into()))
            }
        }
    }

    fn array(&mut self, room: u8) -> Option<Value<'t>> {
        let mut items = Vec::new();
        self.take(1)?;
        while !self.passes(']') {
            if !items.is_empty() && !self.passes(',') {
                return None;
            }
            items.push(self.value(room)?);
        }
        Some(Value::Array(items))
    }

    fn object(&mut self, room: u8) -> Option<Value<'t>> {
        let mut members = Vec::new();
        self.take(1)?;
        while !self.passes('}') {
            if !members.is_empty() && !self.passes(',') {
                return None;
            }
            self.skip_blanks();
            let name = unquote(self.quoted()?)?;
            if !self.passes(':') {
                return None;
            }
            members.push((name, self.value(room)?));
        }
        // No two are alike.
        members.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Some(Value::Object(members))
    }

    /// Takes a string with its quotes.
    fn quoted(&mut self) -> Option<&'t str> {
        // The first quote is taken as one that does not end the string.
        let mut escaped = true;
        let end = self.0.bytes().position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        self.take(end + 1)
    }

    /// Whether this character comes next, which is then passed.
    fn passes(&mut self, wanted: char) -> bool {
        self.skip_blanks();
        let rest = self.0.strip_prefix(wanted);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn skip_blanks(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, length: usize) -> Option<&'t str> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
}

impl Value<'_> {
    fn write(&self, out: &mut String) -> Option<()> {
        match self {
            Self::Plain(text) => out.push_str(text),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out)?;
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    out.push_str(&quote(name)?);
                    out.push(':');
                    value.write(out)?;
                }
                out.push('}');
            }
        }
        Some(())
    }
}

/// Whether a string has escapes. One that has none is canonical as it is written.
fn has_escapes(quoted: &str) -> bool {
    quoted.contains('\\')
}

/// What a string with its quotes says.
fn unquote(quoted: &str) -> Option<Cow<'_, str>> {
    if has_escapes(quoted) {
        return serde_json::from_str(quoted).ok().map(Cow::Owned);
    }
    quoted.strip_prefix('"')?.strip_suffix('"').map(Cow::Borrowed)
}

fn quote(text: &str) -> Option<String> {
    serde_json::to_string(text).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    /// The same by other means: each level is parsed by its parent, and again by itself.
    fn by_levels(text: &str) -> String {
        let joined = |parts: Vec<String>| parts.join(",");
        match text.as_bytes()[0] {
            b'{' => {
                let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap();
                let member = |(name, value): (String, &RawValue)| {
                    format!("{}:{}", serde_json::to_string(&name).unwrap(), by_levels(value.get()))
                };
                format!("{{{}}}", joined(members.into_iter().map(member).collect()))
            }
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).unwrap();
                format!("[{}]", joined(items.into_iter().map(|item| by_levels(item.get())).collect()))
            }
            b'"' => {
                let string: String = serde_json::from_str(text).unwrap();
                serde_json::to_string(&string).unwrap()
            }
            _ => text.to_owned(),
        }
    }

    /// Whether both say the same of a text with blanks around it.
    fn agree(text: &str) {
        let expected = by_levels(text);
        assert_eq!(canonical(&format!("\n\t {text} \r"), 64), Some(expected), "{text}");
    }

    #[test]
    fn one_walk_says_what_reading_level_by_level_says() {
        for text in [
            "0",
            "-0",
            "1.0E+2",
            "null",
            r#""""#,
            r#""\"""#,
            r#""\\""#,
            r#""\\\"""#,
            r#""\u0041\/\u00e9\ud83d\ude00\u0000\u001f""#,
            r#""{[,]}:""#,
            "[]",
            "[ ]",
            "{}",
            "{ }",
            "[1 ,2\n,[3 ] ]",
            r#"{"b":{"d":1,"c":[{"f":1,"e":2}]} , "a" : "x"}"#,
            // In the order of what the names say, not of how they are written.
            r#"{"a!":1,"a":2,"a\u0000":3,"":4,"\u0061b":5,"é":6,"\"":7,"\\":8}"#,
        ] {
            agree(text);
        }
        let wide = vec!["1"; 20_000].join(" , ");
        agree(&format!("{}{wide}{}", r#"{"a":["#.repeat(32), "]}".repeat(32)));
    }

    fn string() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[^\\p{Cc}\"\\\\]{0,3}",
            prop::sample::select(vec![
                "\\u0041",
                "\\n",
                "\\/",
                "\\\\",
                "\\\"",
                "\\ud83d\\ude00",
                "\\u0000",
                "!",
                "}",
                "]",
                ",",
                ":",
                "\u{7f}",
            ])
            .prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
    }

    fn any_text() -> impl Strategy<Value = String> {
        let plain = ["null", "true", "false", "-0", "1.0", "1e2", "9007199254740993123456789"];
        let leaf = prop_oneof![prop::sample::select(plain.to_vec()).prop_map(str::to_owned), string()];
        let blank = || prop::sample::select(vec!["", " ", "\r\n\t"]);
        leaf.prop_recursive(6, 60, 6, move |inner| {
            let items = prop::collection::vec(inner.clone(), 0..5);
            let members = prop::collection::vec((string(), inner), 0..5);
            prop_oneof![
                (items, blank()).prop_map(|(items, blank)| {
                    format!("[{blank}{}{blank}]", items.join(&format!("{blank},{blank}")))
                }),
                (members, blank()).prop_map(|(members, blank)| {
                    // Each name once, however it is written.
                    let named: BTreeMap<String, (String, String)> = members
                        .into_iter()
                        .map(|(name, value)| (serde_json::from_str(&name).unwrap(), (name, value)))
                        .collect();
                    let member = |(name, value)| format!("{blank}{name}{blank}:{blank}{value}");
                    let members: Vec<String> = named.into_values().rev().map(member).collect();
                    format!("{{{}{blank}}}", members.join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn one_walk_says_the_same_of_every_text(text in any_text()) {
            agree(&text);
        }
    }
}
