//! Query parameters: their names, forms and descriptions (contract 4.5).

use authority_domain::text_enum::TextEnum;

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

/// A comma list of an enum's values.
pub(in crate::http) const fn words<E: TextEnum>(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, about, form: Form::Words(names::<E>) }
}

/// A comma list of event types and categories.
pub(in crate::http) const fn event_types(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, about, form: Form::EventTypes }
}

/// A time.
pub(in crate::http) const fn time(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, about, form: Form::Time }
}

/// A text.
pub(in crate::http) const fn text(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, about, form: Form::Text }
}

/// An id with this prefix.
pub(in crate::http) const fn id(name: &'static str, prefix: &'static str, about: &'static str) -> Parameter {
    Parameter { name, about, form: Form::Id(prefix) }
}

/// Live or test.
pub(in crate::http) const fn mode(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, about, form: Form::Mode }
}

/// True or false.
pub(in crate::http) const fn flag(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, about, form: Form::Flag }
}

fn names<E: TextEnum>() -> Vec<&'static str> {
    E::ALL.iter().map(|value| value.as_str()).collect()
}
