//! The forms that values of request bodies may take (contract 1 and 2), as rules that readers of members apply.
//!
//! Each rule takes a JSON value and gives the typed value or a code with a sentence. The methods on [`Members`]
//! name them for the common types, so that a body parser reads like the tables of the contract.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde_json::{Value, json};

use crate::body::{Checked, Field, Members, shape, text_of, wrong};
use crate::bounds::{METADATA_ENTRIES, MONEY_MAX};
use crate::refusal::MemberCode;
use crate::text_enum::TextEnum;
use crate::time::Timestamp;

const METADATA_KEY_LIMIT: usize = 40;
/// The form of a key.
const METADATA_KEYS: &str = "^[A-Za-z0-9_.-]{1,40}$";
const METADATA_VALUE_LIMIT: usize = 500;

/// No control characters: Unicode's category Cc.
const LINE_CHARACTERS: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
/// The same, but for line feeds and tabs.
const NOTE_CHARACTERS: &str = "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$";

/// How long a string may be, in characters, and whether it may have several lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text {
    min: usize,
    max: usize,
    multiline: bool,
}

impl Text {
    /// The rule where the contract states none: 1–255 characters.
    pub const LINE: Self = Self::line(1, 255);
    /// A note: 1–500 characters, line feeds and tabs allowed.
    pub const NOTE: Self = Self::note(1, 500);
    /// An identifier of any kind: 1–128 characters (contract 1.1).
    pub const ID: Self = Self::line(1, 128);

    /// One line of `min` to `max` characters, without control characters.
    #[must_use]
    pub const fn line(min: usize, max: usize) -> Self {
        Self { min, max, multiline: false }
    }

    /// Like [`Text::line`], with `\n` and `\t` allowed.
    #[must_use]
    pub const fn note(min: usize, max: usize) -> Self {
        Self { min, max, multiline: true }
    }

    /// Applies the rule.
    ///
    /// # Errors
    /// `wrong_type`, `too_short`, `too_long` or `control_character`.
    pub fn check(self, value: &Value) -> Checked<String> {
        shape::rule(|| {
            let characters = if self.multiline { NOTE_CHARACTERS } else { LINE_CHARACTERS };
            json!({ "type": "string", "minLength": self.min, "maxLength": self.max, "pattern": characters })
        });
        let text = text_of(value)?;
        let length = text.chars().count();
        if length < self.min {
            return wrong(MemberCode::TooShort, format!("Must have at least {} character(s).", self.min));
        }
        if length > self.max {
            return wrong(MemberCode::TooLong, format!("Must have at most {} characters.", self.max));
        }
        let allowed = |c: char| !c.is_control() || (self.multiline && (c == '\n' || c == '\t'));
        if !text.chars().all(allowed) {
            return wrong(MemberCode::ControlCharacter, "Must not contain control characters.");
        }
        Ok(text.to_owned())
    }
}

impl Members<'_> {
    /// A string.
    pub fn string(&mut self, name: &'static str, rule: Text) -> Field<'_, String> {
        self.field(name, String::new(), |value| rule.check(value))
    }

    /// A string that `parse` turns into a type, e.g. an id or an order number; `what` completes "Must be …" and
    /// `stand_in` is any value of the type.
    pub fn parsed<T>(
        &mut self,
        name: &'static str,
        rule: Text,
        what: &str,
        stand_in: T,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Field<'_, T> {
        self.field(name, stand_in, |value| {
            let text = rule.check(value);
            shape::rule(|| {
                json!({ "type": "string", "minLength": rule.min, "maxLength": rule.max,
                                   "x-must-be": what })
            });
            parse(&text?).ok_or_else(|| (MemberCode::InvalidValue, format!("Must be {what}.")))
        })
    }

    /// An integer within a range that lies within [`crate::bounds::INTEGER_RANGE`].
    pub fn integer(&mut self, name: &'static str, range: RangeInclusive<i64>) -> Field<'_, i64> {
        self.field(name, *range.start(), |value| integer(value, &range))
    }

    /// Money: minor units, `0 ..= 999_999_999_999`.
    pub fn money(&mut self, name: &'static str) -> Field<'_, i64> {
        self.integer(name, 0..=MONEY_MAX)
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, name: &'static str) -> Field<'_, bool> {
        self.field(name, false, |value| {
            shape::rule(|| json!({ "type": "boolean" }));
            match value {
                Value::Bool(value) => Ok(*value),
                _ => wrong(MemberCode::WrongType, "Must be true or false."),
            }
        })
    }

    /// One of the values of an enum, all of them allowed.
    pub fn one_of<E: TextEnum>(&mut self, name: &'static str) -> Field<'_, E> {
        self.one_of_these(name, E::ALL)
    }

    /// One of some of the values of an enum.
    pub fn one_of_these<E: TextEnum>(&mut self, name: &'static str, allowed: &[E]) -> Field<'_, E> {
        self.field(name, E::FIRST, |value| one_of(value, allowed))
    }

    /// An RFC 3339 time with any offset.
    pub fn time(&mut self, name: &'static str) -> Field<'_, Timestamp> {
        self.field(name, Timestamp::from_ms(0), |value| {
            shape::rule(|| json!({ "type": "string", "format": "date-time" }));
            let malformed = "Must be an RFC 3339 time, e.g. 2026-09-01T12:00:00.000Z.";
            Timestamp::parse(text_of(value)?).ok_or_else(|| (MemberCode::InvalidTime, malformed.to_owned()))
        })
    }

    /// An ISO 3166-1 alpha-2 code, uppercase.
    pub fn country(&mut self, name: &'static str) -> Field<'_, String> {
        self.field(name, String::new(), |value| {
            shape::rule(|| json!({ "type": "string", "pattern": "^[A-Z]{2}$" }));
            match text_of(value)? {
                text if is_country(text) => Ok(text.to_owned()),
                _ => wrong(MemberCode::InvalidCountry, "Must be an ISO 3166-1 alpha-2 code, uppercase."),
            }
        })
    }

    /// An ISO 4217 alphabetic code, uppercase, of a currency in which amounts can be counted. Codes without a minor
    /// unit, such as metals and test codes, are refused.
    pub fn currency(&mut self, name: &'static str) -> Field<'_, String> {
        self.field(name, String::new(), |value| {
            shape::rule(|| json!({ "type": "string", "pattern": "^[A-Z]{3}$" }));
            let detail = "Must be the ISO 4217 code, uppercase, of a currency that has a minor unit.";
            match text_of(value)? {
                text if has_minor_unit(text) => Ok(text.to_owned()),
                _ => wrong(MemberCode::InvalidCurrency, detail),
            }
        })
    }

    /// Free key–value pairs within the limits of contract 1. Every wrong entry is reported by its own pointer.
    pub fn metadata(&mut self, name: &'static str) -> Field<'_, BTreeMap<String, String>> {
        self.entries(name, METADATA_ENTRIES, METADATA_KEYS, metadata_entry)
    }

    /// A change of metadata as RFC 7396 writes it: a string sets an entry, null removes it. The transition checks
    /// how many entries are left.
    pub fn metadata_patch(&mut self, name: &'static str) -> Field<'_, BTreeMap<String, Option<String>>> {
        self.entries(name, 2 * METADATA_ENTRIES, METADATA_KEYS, |key, value| match value {
            Value::Null => Ok(None),
            value => metadata_entry(key, value).map(Some),
        })
    }
}

/// An integer as the contract knows them: written without fraction or exponent.
///
/// # Errors
/// `wrong_type` or `out_of_range`.
pub fn integer(value: &Value, range: &RangeInclusive<i64>) -> Checked<i64> {
    shape::rule(|| json!({ "type": "integer", "minimum": range.start(), "maximum": range.end() }));
    let Value::Number(number) = value else { return wrong(MemberCode::WrongType, "Must be an integer.") };
    match number.as_i64() {
        Some(integer) if range.contains(&integer) => Ok(integer),
        // Integers beyond 64 bits arrive as floating point; so do fractions. Both may be whole numbers; neither is
        // accepted as in range.
        _ if number.is_f64()
            && number.as_f64().is_some_and(|float| float.abs() < 9_007_199_254_740_992.0) =>
        {
            wrong(MemberCode::WrongType, "Must be an integer, written without fraction or exponent.")
        }
        _ => wrong(MemberCode::OutOfRange, format!("Must be from {} to {}.", range.start(), range.end())),
    }
}

/// One of the allowed values of an enum.
///
/// # Errors
/// `wrong_type` or `invalid_value`; the sentence lists what is allowed.
pub fn one_of<E: TextEnum>(value: &Value, allowed: &[E]) -> Checked<E> {
    let names = || allowed.iter().map(|value| value.as_str()).collect::<Vec<_>>();
    shape::rule(|| json!({ "type": "string", "enum": names() }));
    let text = text_of(value)?;
    let wrong = || (MemberCode::InvalidValue, format!("Must be one of: {}.", names().join(", ")));
    allowed.iter().find(|allowed| allowed.as_str() == text).copied().ok_or_else(wrong)
}

/// Codes that ISO 4217 has withdrawn and the crate still lists.
const WITHDRAWN_CURRENCIES: [&str; 4] = ["CUC", "HRK", "SLL", "ZWL"];

fn has_minor_unit(code: &str) -> bool {
    iso_currency::Currency::from_code(code).is_some_and(|currency| currency.exponent().is_some())
        && !WITHDRAWN_CURRENCIES.contains(&code)
}

fn is_country(text: &str) -> bool {
    text.len() == 2
        && text.bytes().all(|byte| byte.is_ascii_uppercase())
        && rust_iso3166::from_alpha2(text).is_some()
}

fn metadata_entry(key: &str, value: &Value) -> Checked<String> {
    if !is_metadata_key(key) {
        let detail = "Keys have 1 to 40 characters of A-Z, a-z, 0-9, '_', '.' and '-'.";
        return wrong(MemberCode::InvalidValue, detail);
    }
    Text::note(0, METADATA_VALUE_LIMIT).check(value)
}

fn is_metadata_key(key: &str) -> bool {
    (1..=METADATA_KEY_LIMIT).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}
