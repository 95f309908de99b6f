//! Finding the envelope's members in the text, before anything is said about their values.
//!
//! Three objects are interpreted: the root, `merchant` and `data`. In these a name may not repeat, compared
//! after unescaping; a known name is noticed by its place being taken, the others by their list. Everything
//! deeper is walked over.

use crate::json::{Kind, Malformed, Names, RawString, Scanner, safe_integer};

/// The value of a member, as far as a rule could ask about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Value<'t> {
    #[default]
    Absent,
    Null,
    Boolean(bool),
    Number(&'t str),
    String(RawString<'t>),
    Array,
    Object,
}

impl Value<'_> {
    pub(super) fn integer(self) -> Option<u64> {
        match self {
            Self::Number(text) => safe_integer(text),
            _ => None,
        }
    }

    pub(super) fn boolean(self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn object(self) -> Option<()> {
        (self == Self::Object).then_some(())
    }
}

/// The members of the envelope as they stand in the text.
#[derive(Debug, Default)]
pub(super) struct Root<'t> {
    pub(super) id: Value<'t>,
    pub(super) event_type: Value<'t>,
    pub(super) api_version: Value<'t>,
    pub(super) created_at: Value<'t>,
    pub(super) sequence: Value<'t>,
    pub(super) resource_version: Value<'t>,
    pub(super) livemode: Value<'t>,
    pub(super) recipient: Value<'t>,
    pub(super) links: Value<'t>,
    merchant_seen: bool,
    pub(super) merchant_id: Value<'t>,
    pub(super) merchant_slug: Value<'t>,
    data_seen: bool,
    pub(super) data_object: Value<'t>,
    /// Whether a name occurs twice in the root, in `merchant` or in `data`.
    pub(super) repeated: bool,
}

/// Reads the whole text. `None` when it is JSON, but its root is not an object.
pub(super) fn scan(text: &str, depth: u8) -> Result<Option<Root<'_>>, Malformed> {
    let mut scanner = Scanner::new(text, depth);
    if scanner.kind()? != Kind::Object {
        scanner.skip()?;
        return scanner.end().map(|()| None);
    }
    let mut root = Root::default();
    root.take_root(&mut scanner)?;
    scanner.end()?;
    Ok(Some(root))
}

impl<'t> Root<'t> {
    fn take_root(&mut self, scanner: &mut Scanner<'t>) -> Result<(), Malformed> {
        let mut others = Names::new();
        scanner.enter()?;
        while let Some(name) = scanner.member()? {
            let name = name.unescape();
            let place = match name.as_ref() {
                "id" => &mut self.id,
                "type" => &mut self.event_type,
                "api_version" => &mut self.api_version,
                "created_at" => &mut self.created_at,
                "sequence" => &mut self.sequence,
                "resource_version" => &mut self.resource_version,
                "livemode" => &mut self.livemode,
                "recipient" => &mut self.recipient,
                "links" => &mut self.links,
                "merchant" => {
                    self.repeated |= core::mem::replace(&mut self.merchant_seen, true);
                    self.take_merchant(scanner)?;
                    continue;
                }
                "data" => {
                    self.repeated |= core::mem::replace(&mut self.data_seen, true);
                    self.take_data(scanner)?;
                    continue;
                }
                _ => {
                    others.push(name);
                    scanner.skip()?;
                    continue;
                }
            };
            self.repeated |= *place != Value::Absent;
            *place = take(scanner)?;
        }
        self.repeated |= !others.close();
        Ok(())
    }

    fn take_merchant(&mut self, scanner: &mut Scanner<'t>) -> Result<(), Malformed> {
        if scanner.kind()? != Kind::Object {
            return scanner.skip();
        }
        let mut others = Names::new();
        scanner.enter()?;
        while let Some(name) = scanner.member()? {
            let name = name.unescape();
            let place = match name.as_ref() {
                "id" => &mut self.merchant_id,
                "slug" => &mut self.merchant_slug,
                _ => {
                    others.push(name);
                    scanner.skip()?;
                    continue;
                }
            };
            self.repeated |= *place != Value::Absent;
            *place = take(scanner)?;
        }
        self.repeated |= !others.close();
        Ok(())
    }

    fn take_data(&mut self, scanner: &mut Scanner<'t>) -> Result<(), Malformed> {
        if scanner.kind()? != Kind::Object {
            return scanner.skip();
        }
        let mut others = Names::new();
        scanner.enter()?;
        while let Some(name) = scanner.member()? {
            let name = name.unescape();
            if name == "object" {
                self.repeated |= self.data_object != Value::Absent;
                self.data_object = take(scanner)?;
            } else {
                others.push(name);
                scanner.skip()?;
            }
        }
        self.repeated |= !others.close();
        Ok(())
    }
}

/// Takes one value of any kind; what is inside a container is walked over.
fn take<'t>(scanner: &mut Scanner<'t>) -> Result<Value<'t>, Malformed> {
    let value = match scanner.kind()? {
        Kind::String => return scanner.string().map(Value::String),
        Kind::Number => return scanner.number().map(Value::Number),
        Kind::True => Value::Boolean(true),
        Kind::False => Value::Boolean(false),
        Kind::Null => Value::Null,
        Kind::Array => Value::Array,
        Kind::Object => Value::Object,
    };
    scanner.skip()?;
    Ok(value)
}
