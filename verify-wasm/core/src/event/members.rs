//! Finding the envelope's members in the text, before anything is said about their values.
//!
//! Three objects are interpreted: the root, `merchant` and `data`. In these a name may not repeat, compared
//! after unescaping; a known name is noticed by its place being taken, the others by their list. Everything
//! deeper is walked over.

use crate::json::{Cursor, Diligence, MAX_DEPTH, Malformed, Names, Value};

/// The members of the envelope as they stand in the text; `None` is absent.
#[derive(Debug, Default)]
pub(super) struct Members<'t> {
    pub(super) id: Option<Value<'t>>,
    pub(super) event_type: Option<Value<'t>>,
    pub(super) api_version: Option<Value<'t>>,
    pub(super) created_at: Option<Value<'t>>,
    pub(super) sequence: Option<Value<'t>>,
    pub(super) resource_version: Option<Value<'t>>,
    pub(super) livemode: Option<Value<'t>>,
    pub(super) recipient: Option<Value<'t>>,
    pub(super) links: Option<Value<'t>>,
    pub(super) merchant_id: Option<Value<'t>>,
    pub(super) merchant_slug: Option<Value<'t>>,
    pub(super) data_object: Option<Value<'t>>,
    /// Whether a name occurs twice in the root, in `merchant` or in `data`.
    pub(super) repeated: bool,
}

impl<'t> Members<'t> {
    /// Reads the whole text. `false` when it is JSON, but its root is not an object.
    pub(super) fn find(&mut self, text: &'t str, diligence: Diligence) -> Result<bool, Malformed> {
        let mut cursor = Cursor::new(text, MAX_DEPTH, diligence);
        let is_object = cursor.enter()?;
        if is_object {
            self.take_root(&mut cursor)?;
        } else {
            cursor.take()?;
        }
        cursor.end()?;
        Ok(is_object)
    }

    fn take_root(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Malformed> {
        let mut others = Names::new();
        let mut merchants = 0_u32;
        let mut datas = 0_u32;
        while let Some(name) = cursor.member()? {
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
                    merchants += 1;
                    self.take_merchant(cursor)?;
                    continue;
                }
                "data" => {
                    datas += 1;
                    self.take_data(cursor)?;
                    continue;
                }
                _ => {
                    others.push(name);
                    cursor.take()?;
                    continue;
                }
            };
            self.repeated |= place.replace(cursor.take()?).is_some();
        }
        self.repeated |= merchants > 1 || datas > 1 || !others.close();
        Ok(())
    }

    fn take_merchant(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Malformed> {
        if !cursor.enter()? {
            return cursor.take().map(|_| ());
        }
        let mut others = Names::new();
        while let Some(name) = cursor.member()? {
            let place = match name.as_ref() {
                "id" => &mut self.merchant_id,
                "slug" => &mut self.merchant_slug,
                _ => {
                    others.push(name);
                    cursor.take()?;
                    continue;
                }
            };
            self.repeated |= place.replace(cursor.take()?).is_some();
        }
        self.repeated |= !others.close();
        Ok(())
    }

    fn take_data(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Malformed> {
        if !cursor.enter()? {
            return cursor.take().map(|_| ());
        }
        let mut others = Names::new();
        while let Some(name) = cursor.member()? {
            let value = cursor.take()?;
            if name == "object" {
                self.repeated |= self.data_object.replace(value).is_some();
            } else {
                others.push(name);
            }
        }
        self.repeated |= !others.close();
        Ok(())
    }
}
