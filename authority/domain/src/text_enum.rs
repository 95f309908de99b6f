//! One line per variant for every closed set of names that crosses the wire or the database.
//!
//! A state, scope or code is an enum inside and a fixed lowercase text outside. The macro writes both directions
//! from one table, so that they cannot drift apart. Deliberately absent: unknown values. A consumer may meet a value
//! that it does not know (contract 1, "enums are open"); the service itself never does.

/// A closed set of names, for readers of bodies and queries that work with any of them.
pub trait TextEnum: Copy + 'static {
    /// Every value, in the order of the contract.
    const ALL: &'static [Self];

    /// The first of them: any value will do where a reader needs a stand-in.
    const FIRST: Self;

    /// The text on the wire and in the database.
    fn as_str(self) -> &'static str;

    /// The value with exactly this text.
    fn parse(text: &str) -> Option<Self>;
}

/// Declares a public fieldless enum with `ALL`, `as_str` and `parse`, [`TextEnum`], serde by the text, and a schema
/// that lists the texts. `Name as "OtherName"` gives the schema another name, for types whose Rust name is only
/// clear with its module.
macro_rules! text_enum {
    (
        $(#[doc = $doc:literal])*
        $name:ident $(as $public_name:literal)? {
            $($(#[doc = $variant_doc:literal])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[doc = $variant_doc])* $variant,)+ }

        impl $name {
            /// Every value, in the order of the contract.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The text on the wire and in the database.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The value with exactly this text.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl $crate::text_enum::TextEnum for $name {
            const ALL: &'static [Self] = Self::ALL;
            const FIRST: Self = [$(Self::$variant,)+][0];

            fn as_str(self) -> &'static str {
                self.as_str()
            }

            fn parse(text: &str) -> Option<Self> {
                Self::parse(text)
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <::std::borrow::Cow<'de, str> as ::serde::Deserialize<'de>>::deserialize(deserializer)?;
                Self::parse(&text).ok_or_else(|| {
                    ::serde::de::Error::unknown_variant(&text, &[$($text,)+])
                })
            }
        }

        #[cfg(feature = "schema")]
        impl ::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                [$($public_name,)? stringify!($name)][0].into()
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($name)).into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                let values = [$(($text, concat!($($variant_doc),*)),)+];
                $crate::schema::one_of_texts(concat!($($doc),*), &values)
            }
        }
    };
}

pub(crate) use text_enum;
