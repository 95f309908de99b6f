//! The event list as a receiver reads it: pages of events, each as it was written, and where to go on (contract 4.5).
//!
//! A receiver that catches up claims the listed events as it claims deliveries, and stores their bytes. So a page is
//! taken apart without being built: an event is the stretch of the text that it was, byte for byte what a delivery of
//! it carries. Whether it is an event that keeps the rules is for [`crate::event::read`] to say, event by event; one
//! that does not makes no page unreadable.
//!
//! Deliberately absent: a signature. The list has none; it is genuine because of the connection and the key.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

use crate::json::{Cursor, Diligence, MAX_DEPTH, Malformed, Value};

/// What a page opens around an event: its own object, and the array of its events.
const AROUND: u8 = 2;

/// One page of the event list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<'t> {
    /// Its events in the order of the list, each as it is written.
    pub events: Vec<&'t str>,
    /// Where the next page begins; `None` on the last page, which may also write an empty one.
    pub next_cursor: Option<Cow<'t, str>>,
    /// The position behind the last event of this page, on every page of an authority that sends it.
    pub resume_cursor: Option<Cow<'t, str>>,
}

/// The text is not a page: not JSON (contract 10.4), not an object, without an array `data`, with a cursor that is
/// not a string, or with one of these members twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAPage;

impl fmt::Display for NotAPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a page of the event list")
    }
}

impl core::error::Error for NotAPage {}

impl From<Malformed> for NotAPage {
    fn from(_: Malformed) -> Self {
        Self
    }
}

/// Takes a page apart. Members that are not known pass.
///
/// # Errors
///
/// [`NotAPage`], also when only something behind the last event is wrong: the text may have been cut off.
pub fn read(text: &[u8]) -> Result<Page<'_>, NotAPage> {
    let text = core::str::from_utf8(text).map_err(|_| NotAPage)?;
    let mut cursor = Cursor::new(text, MAX_DEPTH + AROUND, Diligence::Alone);
    let (mut events, mut next, mut resume) = (None, None, None);
    if !cursor.enter()? {
        return Err(NotAPage);
    }
    while let Some(name) = cursor.member()? {
        let repeated = match name.as_ref() {
            "data" => events.replace(take_events(&mut cursor)?).is_some(),
            "next_cursor" => next.replace(position(cursor.take()?)?).is_some(),
            "resume_cursor" => resume.replace(position(cursor.take()?)?).is_some(),
            _ => {
                cursor.take()?;
                false
            }
        };
        if repeated {
            return Err(NotAPage);
        }
    }
    cursor.end()?;
    let events = events.ok_or(NotAPage)?;
    Ok(Page { events, next_cursor: next.flatten(), resume_cursor: resume.flatten() })
}

/// The code of a problem that the API answers with instead (contract 5.1): the string `code` of the root object.
#[must_use]
pub fn problem_code(text: &[u8]) -> Option<Cow<'_, str>> {
    let text = core::str::from_utf8(text).ok()?;
    let mut cursor = Cursor::new(text, MAX_DEPTH, Diligence::Alone);
    cursor.enter().ok().filter(|entered| *entered)?;
    while let Some(name) = cursor.member().ok()? {
        match cursor.take().ok()? {
            Value::String(code) if name == "code" => return Some(code.unescape()),
            _ => {}
        }
    }
    None
}

fn take_events<'t>(cursor: &mut Cursor<'t>) -> Result<Vec<&'t str>, NotAPage> {
    if !cursor.enter_array()? {
        return Err(NotAPage);
    }
    let mut events = Vec::new();
    while cursor.element()? {
        events.push(cursor.take_text()?);
    }
    Ok(events)
}

/// Absent, `null` and empty say the same.
fn position(value: Value<'_>) -> Result<Option<Cow<'_, str>>, NotAPage> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.unescape()).filter(|text| !text.is_empty())),
        _ => Err(NotAPage),
    }
}
