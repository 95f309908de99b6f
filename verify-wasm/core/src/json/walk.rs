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

#[inline]
fn walk<'t>(mut rest: &'t [u8], room: u8, watch: &mut impl Watch<'t>) -> Result<&'t [u8], Malformed> {
    let mut open = Open::default();
    loop {
        // A value begins.
        rest = skip_blanks(rest);
        rest = match rest {
            [b'"', after @ ..] => string::scan_tail(after)?.0,
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
            [b'-' | b'0'..=b'9', ..] => number::scan(rest)?,
            [b't', b'r', b'u', b'e', after @ ..]
            | [b'f', b'a', b'l', b's', b'e', after @ ..]
            | [b'n', b'u', b'l', b'l', after @ ..] => after,
            _ => return Err(Malformed::Syntax),
        };
        // A value has ended, or an empty container is about to: leave whatever ends here.
        loop {
            if open.depth == 0 {
                return Ok(rest);
            }
            rest = skip_blanks(rest);
            rest = match (rest, open.in_object()) {
                ([b',', after @ ..], true) => {
                    rest = walk_name(skip_blanks(after), watch)?;
                    break;
                }
                ([b',', after @ ..], false) => {
                    rest = after;
                    break;
                }
                ([b'}', after @ ..], true) => {
                    if !watch.close() {
                        return Err(Malformed::Duplicate);
                    }
                    after
                }
                ([b']', after @ ..], false) => after,
                _ => return Err(Malformed::Syntax),
            };
            open.pop();
        }
    }
}

/// Passes over a member's name and its colon.
#[inline]
fn walk_name<'t>(text: &'t [u8], watch: &mut impl Watch<'t>) -> Result<&'t [u8], Malformed> {
    let [b'"', from @ ..] = text else { return Err(Malformed::Syntax) };
    let (rest, escaped) = string::scan_tail(from)?;
    watch.name(from, rest, escaped);
    match skip_blanks(rest) {
        [b':', rest @ ..] => Ok(rest),
        _ => Err(Malformed::Syntax),
    }
}

/// Passes over blanks. In a compact text there are none, so the first byte mostly decides.
#[inline]
pub(super) fn skip_blanks(text: &[u8]) -> &[u8] {
    match text {
        [first, ..] if *first > b' ' => text,
        _ => skip_some_blanks(text),
    }
}

fn skip_some_blanks(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\n' | b'\r' | b'\t', rest @ ..] = text {
        text = rest;
    }
    text
}
