//! The values that statements take.

use std::borrow::Cow;

use crate::shards::Shard;

/// A value of a statement or of a row's column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value<'v> {
    Text(Option<Cow<'v, str>>),
    Int(Option<i64>),
    Bool(Option<bool>),
    Bytes(Option<Cow<'v, [u8]>>),
    /// The number of a shard; on SQLite 0.
    Shard(Shard),
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Int,
    Bool,
    Bytes,
    Shard,
}

impl Value<'_> {
    /// The same, for longer than what it was made from.
    pub(crate) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Text(text) => Value::Text(text.map(|text| Cow::Owned(text.into_owned()))),
            Self::Int(number) => Value::Int(number),
            Self::Bool(yes) => Value::Bool(yes),
            Self::Bytes(bytes) => Value::Bytes(bytes.map(|bytes| Cow::Owned(bytes.into_owned()))),
            Self::Shard(shard) => Value::Shard(shard),
        }
    }
}

/// Makes a value, and one that may be missing, from a type.
macro_rules! from {
    ($($type:ty => $variant:ident($value:ident) $made:expr;)+) => {$(
        impl<'v> From<$type> for Value<'v> {
            fn from($value: $type) -> Self {
                Self::$variant(Some($made))
            }
        }

        impl<'v> From<Option<$type>> for Value<'v> {
            fn from(value: Option<$type>) -> Self {
                Self::$variant(value.map(|$value| $made))
            }
        }
    )+};
}

from! {
    &'v str => Text(text) Cow::Borrowed(text);
    &'v String => Text(text) Cow::Borrowed(text.as_str());
    String => Text(text) Cow::Owned(text);
    Cow<'v, str> => Text(text) text;
    i64 => Int(number) number;
    bool => Bool(yes) yes;
    &'v [u8] => Bytes(bytes) Cow::Borrowed(bytes);
    Vec<u8> => Bytes(bytes) Cow::Owned(bytes);
}

impl From<Shard> for Value<'_> {
    fn from(shard: Shard) -> Self {
        Self::Shard(shard)
    }
}

impl<'v> From<&'v Option<String>> for Value<'v> {
    fn from(text: &'v Option<String>) -> Self {
        text.as_ref().into()
    }
}

/// A tuple of values.
pub(crate) trait Values<'v> {
    fn add_to(self, values: &mut Vec<Value<'v>>);
}

macro_rules! tuples {
    ($($($name:ident)+;)+) => {$(
        impl<'v, $($name: Into<Value<'v>>),+> Values<'v> for ($($name,)+) {
            #[expect(non_snake_case, reason = "each is named like its type")]
            fn add_to(self, values: &mut Vec<Value<'v>>) {
                let ($($name,)+) = self;
                values.extend([$($name.into()),+]);
            }
        }
    )+};
}

tuples! {
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}
