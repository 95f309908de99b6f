//! JSON as a literal of a language. What fits stands on one line.

use anyhow::{Result, bail};
use serde_json::Value;

/// The length of a value that stands on one line.
const LENGTH_MAX: usize = 75;
/// The column where such a value ends, without the name in front of it.
const COLUMN_MAX: usize = 87;

/// How a language writes what JSON has.
pub(super) struct Notation {
    /// The brackets of an object, with the spaces that belong inside them on one line.
    pub(super) object: (&'static str, &'static str),
    /// A member's name, with all that stands before its value.
    pub(super) name: fn(&str) -> Result<String>,
    pub(super) text: fn(&str) -> Result<String>,
    /// `null`, `true`, `false`.
    pub(super) words: [&'static str; 3],
    /// The columns by which members are indented.
    pub(super) step: usize,
    /// Behind the last of several lines.
    pub(super) last: &'static str,
}

/// JSON itself, for languages that send it as a text.
pub(super) const JSON: Notation = Notation {
    object: ("{", "}"),
    name: |name| Ok(format!("{}: ", quoted(name)?)),
    text: quoted,
    words: ["null", "true", "false"],
    step: 2,
    last: "",
};

/// `value`, whose first line begins somewhere and whose further lines are indented by `indent` columns.
pub(super) fn of(value: &Value, notation: &Notation, indent: usize) -> Result<String> {
    let (opens, closes, items) = match value {
        Value::Null => return Ok(notation.words[0].to_owned()),
        Value::Bool(true) => return Ok(notation.words[1].to_owned()),
        Value::Bool(false) => return Ok(notation.words[2].to_owned()),
        Value::Number(number) => return Ok(number.to_string()),
        Value::String(text) => return (notation.text)(text),
        Value::Array(items) => {
            let items = items.iter().map(|item| of(item, notation, indent + notation.step));
            ("[", "]", items.collect::<Result<Vec<_>>>()?)
        }
        Value::Object(members) => {
            let items = members.iter().map(|(name, value)| {
                Ok((notation.name)(name)? + &of(value, notation, indent + notation.step)?)
            });
            (notation.object.0, notation.object.1, items.collect::<Result<Vec<_>>>()?)
        }
    };
    if items.is_empty() {
        bail!("an empty array is the same as an empty object in some languages");
    }
    let line = format!("{opens}{}{closes}", items.join(", "));
    if !line.contains('\n') && line.len() <= LENGTH_MAX && indent + line.len() <= COLUMN_MAX {
        return Ok(line);
    }
    let inner = " ".repeat(indent + notation.step);
    let lines = items.join(&format!(",\n{inner}"));
    let (opens, closes, end) = (opens.trim_end(), closes.trim_start(), " ".repeat(indent));
    Ok(format!("{opens}\n{inner}{lines}{}\n{end}{closes}", notation.last))
}

/// In double quotes, as JSON, JavaScript and Python alike have it.
pub(super) fn quoted(text: &str) -> Result<String> {
    if text.contains(|letter: char| letter.is_control() || letter == '\\' || letter == '"') {
        bail!("{text:?} is not written the same in every language");
    }
    Ok(format!("\"{text}\""))
}

/// The same where a text in double quotes may have variables in it.
pub(super) fn quoted_without_variables(text: &str) -> Result<String> {
    if text.contains(['$', '#']) {
        bail!("{text:?} may have a variable in it");
    }
    quoted(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_does_not_fit_on_a_line_stands_on_several() {
        let short = json!({ "reason": "somebody else's", "late": [true, null, 7] });
        assert_eq!(
            of(&short, &JSON, 0).unwrap(),
            r#"{"late": [true, null, 7], "reason": "somebody else's"}"#
        );
        let long = json!({ "note": "n".repeat(60), "sku": "TSHIRT-M" });
        let expected =
            format!("{{\n      \"note\": \"{}\",\n      \"sku\": \"TSHIRT-M\"\n    }}", "n".repeat(60));
        assert_eq!(of(&long, &JSON, 4).unwrap(), expected);
    }

    #[test]
    fn what_some_language_would_take_differently_is_refused() {
        for value in [json!("a\"b"), json!("a\\b"), json!("a\nb"), json!([]), json!({ "metadata": {} })] {
            assert!(of(&value, &JSON, 0).is_err(), "{value}");
        }
        for text in ["$total", "#{total}", "a\"b"] {
            assert!(quoted_without_variables(text).is_err(), "{text}");
        }
    }
}
