//! The forms of query parameters (contract 4.5), and how each is read.

use std::collections::BTreeMap;

use verify_core::catalog::EventType;

use crate::audit_log::Author;
use crate::id::{ConnectionId, EndpointId, EventId, MerchantId};
use crate::order::external_references::SystemName;
use crate::tenant::Mode;
use crate::text_enum::TextEnum;
use crate::time::Timestamp;

/// Longest value of a text filter, in characters.
const TEXT_LIMIT: usize = 255;
/// Most values in a comma list (contract 18.1).
const LIST_LIMIT: usize = 64;

/// A query parameter. All are optional.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The description, for people.
    pub about: &'static str,
    /// The values it may have.
    pub form: Form,
}

/// The values a parameter may have.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// A comma list of these names, at most 64.
    Words(fn() -> Vec<&'static str>),
    /// A comma list of event types; `<category>.*` stands for all of a category.
    EventTypes,
    /// An RFC 3339 time.
    Time,
    /// 1 to 255 characters.
    Text,
    /// An id with this prefix.
    Id(&'static str),
    /// `live` or `test`.
    Mode,
    /// `true` or `false`.
    Flag,
}

/// A type whose values a parameter can have.
pub trait ParameterValue: Default {
    /// The form of its text.
    const FORM: Form;

    /// Reads a text; also returns its canonical form, which is equal exactly for equal values.
    ///
    /// # Errors
    /// What is wrong with it, as a sentence.
    fn read(text: &str) -> Result<(Self, String), String>;
}

/// A value that is one text: 1 to 255 characters without controls.
trait TextValue: Sized {
    const FORM: Form;
    /// Completes "Must be …".
    const WHAT: &'static str;

    fn parse(text: &str) -> Option<Self>;
}

impl<T: TextValue> ParameterValue for Option<T> {
    const FORM: Form = T::FORM;

    fn read(text: &str) -> Result<(Self, String), String> {
        if !(1..=TEXT_LIMIT).contains(&text.chars().count()) || text.chars().any(char::is_control) {
            return Err("Must have 1 to 255 characters, without control characters.".to_owned());
        }
        let value = T::parse(text).ok_or_else(|| format!("Must be {}.", T::WHAT))?;
        Ok((Some(value), text.to_owned()))
    }
}

macro_rules! text_values {
    ($($value:ty = $form:expr, $what:literal, $parse:expr;)+) => {$(
        impl TextValue for $value {
            const FORM: Form = $form;
            const WHAT: &'static str = $what;

            fn parse(text: &str) -> Option<Self> {
                ($parse)(text)
            }
        }
    )+};
}

text_values! {
    String = Form::Text, "a text", |text: &str| Some(text.to_owned());
    bool = Form::Flag, "true or false", |text: &str| text.parse().ok();
    Mode = Form::Mode, "live or test", Mode::parse;
    MerchantId = Form::Id(MerchantId::PREFIX), "a merchant's id", MerchantId::parse;
    EndpointId = Form::Id(EndpointId::PREFIX), "an endpoint's id", EndpointId::parse;
    EventId = Form::Id(EventId::PREFIX), "an event's id", EventId::parse;
    ConnectionId = Form::Id(ConnectionId::PREFIX), "the id of a partner connection", ConnectionId::parse;
    SystemName = Form::Text, "a system's name, such as erp", SystemName::parse;
    Author = Form::Text, "the id of an operator key or portal session, or cli", Author::parse;
}

/// RFC 3339 with any offset. An unencoded `+` arrives as a space, so the sentence mentions it.
impl ParameterValue for Option<Timestamp> {
    const FORM: Form = Form::Time;

    fn read(text: &str) -> Result<(Self, String), String> {
        let malformed = "Must be an RFC 3339 time, e.g. 2026-09-01T12:00:00Z; a plus sign is written %2B.";
        let time = Timestamp::parse(text).ok_or(malformed)?;
        Ok((Some(time), time.to_string()))
    }
}

/// A comma list of an enum's values. Order and repetition do not matter.
impl<E: TextEnum> ParameterValue for Vec<E> {
    const FORM: Form = Form::Words(names::<E>);

    fn read(text: &str) -> Result<(Self, String), String> {
        list(text, E::parse, |value| value.as_str().to_owned())
            .map_err(|_| format!("Each value must be one of: {}.", names::<E>().join(", ")))
    }
}

/// A comma list of catalog names, or `<category>.*` for all of a category. A cursor is bound to these texts and not to
/// the types that they stand for today, so that it goes on when a category has one more.
impl ParameterValue for Vec<EventType> {
    const FORM: Form = Form::EventTypes;

    fn read(text: &str) -> Result<(Self, String), String> {
        let expand = |text: &str| -> Option<(String, Vec<EventType>)> {
            let of_category = |event: EventType| text.strip_suffix(".*") == Some(event.category());
            let named = |event: &EventType| event.as_str() == text || of_category(*event);
            let named: Vec<EventType> = EventType::ALL.into_iter().filter(named).collect();
            (!named.is_empty()).then(|| (text.to_owned(), named))
        };
        let (lists, canonical) = list(text, expand, |(text, _)| text.clone())?;
        let mut types: Vec<EventType> = lists.into_iter().flat_map(|(_, types)| types).collect();
        types.sort_by_key(|event| event.as_str());
        types.dedup();
        Ok((types, canonical))
    }
}

/// Reads a comma list; the values are sorted by their canonical texts, and none is there twice.
fn list<T>(
    text: &str,
    parse: impl Fn(&str) -> Option<T>,
    write: impl Fn(&T) -> String,
) -> Result<(Vec<T>, String), &'static str> {
    // The limit counts the values as sent, before duplicates are removed.
    if text.split(',').count() > LIST_LIMIT {
        return Err("The list has more than 64 values.");
    }
    let mut values = BTreeMap::new();
    for item in text.split(',') {
        let value = parse(item).ok_or("A value of the list is not allowed.")?;
        values.insert(write(&value), value);
    }
    let canonical: Vec<&str> = values.keys().map(String::as_str).collect();
    let canonical = canonical.join(",");
    Ok((values.into_values().collect(), canonical))
}

fn names<E: TextEnum>() -> Vec<&'static str> {
    E::ALL.iter().map(|value| value.as_str()).collect()
}
