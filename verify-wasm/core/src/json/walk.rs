//! The walk over one whole value, whatever it holds.
//!
//! This is the hot path: most of an event is walked over. Open containers are bits of one word, so nothing is
//! allocated and nothing recurses; the rest of the text is a slice that only shrinks.

use super::names::Names;
use super::string::{self, RawString};
use super::{Malformed, number};

/// The containers that are open: one bit each, innermost lowest, set for an object.
#[derive(Default)]
struct Open {
    objects: u128,
    depth: u8,
}

impl Open {
    fn push(&mut self, is_object: bool, room: u8) -> Result<(), Malformed> {
        if self.depth >= room {
            return Err(Malformed::Depth);
        }
        self.depth += 1;
        self.objects = self.objects << 1 | u128::from(is_object);
        Ok(())
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
    }

    fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }
}

/// Who is told about objects and names on a walk.
trait Watch<'t> {
    fn open(&mut self) {}
    /// A name: the text from it on, what follows its closing quotation mark, and whether it holds escapes.
    fn name(&mut self, _from: &'t [u8], _rest: &'t [u8], _escaped: bool) {}
    /// Whether all names of the object that ends were different.
    fn close(&mut self) -> bool {
        true
    }
}

struct Nobody;

impl Watch<'_> for Nobody {}

struct Unique<'t> {
    text: &'t str,
    names: Names<'t>,
}

impl<'t> Watch<'t> for Unique<'t> {
    fn open(&mut self) {
        self.names.open();
    }

    fn name(&mut self, from: &'t [u8], rest: &'t [u8], escaped: bool) {
        self.names.push(RawString::between(self.text, from, rest, escaped).unescape());
    }

    fn close(&mut self) -> bool {
        self.names.close()
    }
}

/// Passes over one value with at most `room` nested containers. What follows it.
pub(super) fn skip(text: &[u8], room: u8) -> Result<&[u8], Malformed> {
    walk(text, room, &mut Nobody)
}

/// As [`skip`], with no name twice in any object.
pub(super) fn skip_unique(text: &str, room: u8) -> Result<&[u8], Malformed> {
    walk(text.as_bytes(), room, &mut Unique { text, names: Names::new() })
}

// Everything on the way of a compact text is inlined into one loop; measured, this halves the walk's time.
// Blanks have an arm of their own wherever they may stand, so a text without them pays nothing for them.
#[inline(always)]
fn walk<'t>(mut rest: &'t [u8], room: u8, watch: &mut impl Watch<'t>) -> Result<&'t [u8], Malformed> {
    let mut open = Open::default();
    loop {
        // A value begins.
        rest = match rest {
            [b'"', after @ ..] => string::scan_tail(after)?.0,
            [b'-' | b'0'..=b'9', ..] => number::scan(rest)?,
            [b'{', after @ ..] => {
                open.push(true, room)?;
                watch.open();
                let after = skip_blanks(after);
                if !matches!(after, [b'}', ..]) {
                    rest = walk_name(after, watch)?;
                    continue;
                }
                after
            }
            [b'[', after @ ..] => {
                open.push(false, room)?;
                rest = skip_blanks(after);
                if !matches!(rest, [b']', ..]) {
                    continue;
                }
                rest
            }
            [b't', b'r', b'u', b'e', after @ ..]
            | [b'f', b'a', b'l', b's', b'e', after @ ..]
            | [b'n', b'u', b'l', b'l', after @ ..] => after,
            [b' ' | b'\n' | b'\r' | b'\t', after @ ..] => {
                rest = after;
                continue;
            }
            _ => return Err(Malformed::Syntax),
        };
        // A value has ended, or an empty container is about to.
        match leave(rest, &mut open, watch)? {
            (after, true) => rest = after,
            (after, false) => return Ok(after),
        }
    }
}

/// Leaves every container that ends here. What follows, and whether that is another value.
#[inline(always)]
fn leave<'t>(
    mut rest: &'t [u8],
    open: &mut Open,
    watch: &mut impl Watch<'t>,
) -> Result<(&'t [u8], bool), Malformed> {
    while open.depth > 0 {
        rest = match (rest, open.in_object()) {
            ([b',', after @ ..], true) => return Ok((walk_name(after, watch)?, true)),
            ([b',', after @ ..], false) => return Ok((after, true)),
            ([b'}', after @ ..], true) => {
                if !watch.close() {
                    return Err(Malformed::Duplicate);
                }
                open.pop();
                after
            }
            ([b']', after @ ..], false) => {
                open.pop();
                after
            }
            ([b' ' | b'\n' | b'\r' | b'\t', after @ ..], _) => after,
            _ => return Err(Malformed::Syntax),
        };
    }
    Ok((rest, false))
}

/// Passes over a member's name and its colon.
#[inline(always)]
fn walk_name<'t>(text: &'t [u8], watch: &mut impl Watch<'t>) -> Result<&'t [u8], Malformed> {
    let from = expect(text, b'"')?;
    let (rest, escaped) = string::scan_tail(from)?;
    watch.name(from, rest, escaped);
    expect(rest, b':')
}

/// Passes over blanks and this byte.
#[inline(always)]
pub(super) fn expect(text: &[u8], byte: u8) -> Result<&[u8], Malformed> {
    match text {
        [first, rest @ ..] if *first == byte => Ok(rest),
        _ => expect_behind_blanks(text, byte),
    }
}

#[cold]
fn expect_behind_blanks(text: &[u8], byte: u8) -> Result<&[u8], Malformed> {
    match skip_blanks(text) {
        [first, rest @ ..] if *first == byte => Ok(rest),
        _ => Err(Malformed::Syntax),
    }
}

/// Passes over blanks: SP, LF, CR and HTAB, and no other.
#[inline(always)]
pub(super) fn skip_blanks(text: &[u8]) -> &[u8] {
    match text {
        [b' ' | b'\n' | b'\r' | b'\t', rest @ ..] => skip_more_blanks(rest),
        _ => text,
    }
}

#[cold]
fn skip_more_blanks(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\n' | b'\r' | b'\t', rest @ ..] = text {
        text = rest;
    }
    text
}
