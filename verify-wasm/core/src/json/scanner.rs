//! The scanner: a position in a text, and the moves that are legal from there.
//!
//! A caller asks for the [`Kind`] of the next value and then either takes it apart (`string`, `number`, or
//! `enter` and `member`) or skips it. Every move either succeeds and stands behind what it read, or reports
//! why the text is malformed; after an error the scanner is of no further use.

use super::names::Names;
use super::string::{self, RawString};
use super::{MAX_DEPTH, Malformed, number};

/// What the next value is, judged by its first character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `"`
    String,
    /// `-` or a digit
    Number,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

/// A position in a JSON text.
#[derive(Debug)]
pub struct Scanner<'t> {
    text: &'t str,
    rest: &'t [u8],
    /// How many more containers may be opened here.
    room: u8,
    /// Whether an object was just entered and none of its members taken yet.
    entered: bool,
}

/// The containers that a walk has open: one bit each, innermost lowest, set for an object.
#[derive(Default)]
struct Open {
    objects: u128,
    depth: u8,
}

impl Open {
    fn push(&mut self, container: Kind, room: u8) -> Result<(), Malformed> {
        if self.depth >= room {
            return Err(Malformed::Depth);
        }
        self.depth += 1;
        self.objects = self.objects << 1 | u128::from(container == Kind::Object);
        Ok(())
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.objects >>= 1;
    }

    fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }
}

impl<'t> Scanner<'t> {
    /// Stands before the first byte of `text`. At most `depth` containers may be nested, and never more than
    /// [`MAX_DEPTH`].
    #[must_use]
    pub fn new(text: &'t str, depth: u8) -> Self {
        Self { text, rest: text.as_bytes(), room: depth.min(MAX_DEPTH), entered: false }
    }

    /// What comes next, blanks passed over.
    ///
    /// # Errors
    ///
    /// [`Malformed::Syntax`] when no value can begin here.
    pub fn kind(&mut self) -> Result<Kind, Malformed> {
        match self.peek() {
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'"') => Ok(Kind::String),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't') => Ok(Kind::True),
            Some(b'f') => Ok(Kind::False),
            Some(b'n') => Ok(Kind::Null),
            _ => Err(Malformed::Syntax),
        }
    }

    /// Takes a string.
    ///
    /// # Errors
    ///
    /// What is wrong with it, or [`Malformed::Syntax`] when no string comes next.
    pub fn string(&mut self) -> Result<RawString<'t>, Malformed> {
        self.expect(b'"')?;
        let start = self.position();
        let escaped = self.string_tail()?;
        // The closing quotation mark is read.
        let text = self.text.get(start..self.position() - 1).ok_or(Malformed::Syntax)?;
        Ok(RawString { text, escaped })
    }

    /// Takes a number and returns its text.
    ///
    /// # Errors
    ///
    /// What is wrong with it, or [`Malformed::Syntax`] when no number comes next.
    pub fn number(&mut self) -> Result<&'t str, Malformed> {
        self.peek();
        let start = self.position();
        self.number_body()?;
        self.text.get(start..self.position()).ok_or(Malformed::Syntax)
    }

    /// Steps into an object; [`Scanner::member`] then leads from name to name.
    ///
    /// # Errors
    ///
    /// [`Malformed::Depth`] when no further container may be open, [`Malformed::Syntax`] when no object comes
    /// next.
    pub fn enter(&mut self) -> Result<(), Malformed> {
        self.expect(b'{')?;
        self.room = self.room.checked_sub(1).ok_or(Malformed::Depth)?;
        self.entered = true;
        Ok(())
    }

    /// The name of the next member of the innermost entered object, its colon read; the caller takes or skips
    /// the value before asking again. `None` at the end of the object, which is then left.
    ///
    /// # Errors
    ///
    /// What is wrong, [`Malformed::Syntax`] when neither a member nor the end comes next.
    pub fn member(&mut self) -> Result<Option<RawString<'t>>, Malformed> {
        let first = core::mem::take(&mut self.entered);
        match self.peek() {
            Some(b'}') => {
                self.bump();
                self.room = self.room.saturating_add(1);
                return Ok(None);
            }
            Some(b',') if !first => self.bump(),
            Some(b'"') if first => {}
            _ => return Err(Malformed::Syntax),
        }
        let name = self.string()?;
        self.expect(b':')?;
        Ok(Some(name))
    }

    /// Passes over one value of any kind.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn skip(&mut self) -> Result<(), Malformed> {
        self.walk(None)
    }

    /// Passes over one value of any kind in which no object may repeat a name.
    ///
    /// # Errors
    ///
    /// What is wrong with it, [`Malformed::Duplicate`] for a repeated name.
    pub fn skip_unique(&mut self) -> Result<(), Malformed> {
        self.walk(Some(&mut Names::new()))
    }

    /// Only blanks may follow.
    ///
    /// # Errors
    ///
    /// [`Malformed::Syntax`] when something else does.
    pub fn end(mut self) -> Result<(), Malformed> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(Malformed::Syntax),
        }
    }

    fn walk(&mut self, mut names: Option<&mut Names<'t>>) -> Result<(), Malformed> {
        let mut open = Open::default();
        loop {
            let container = self.kind()?;
            match container {
                Kind::Object | Kind::Array => {
                    open.push(container, self.room)?;
                    self.bump();
                    if let (Some(names), Kind::Object) = (&mut names, container) {
                        names.open();
                    }
                    if !matches!(self.peek(), Some(b'}' | b']')) {
                        if container == Kind::Object {
                            self.walk_name(&mut names)?;
                        }
                        continue;
                    }
                }
                Kind::String => {
                    self.bump();
                    self.string_tail()?;
                }
                Kind::Number => self.number_body()?,
                Kind::True => self.literal(b"true")?,
                Kind::False => self.literal(b"false")?,
                Kind::Null => self.literal(b"null")?,
            }
            // A value has ended, or an empty container is about to: leave what ends here.
            loop {
                if open.depth == 0 {
                    return Ok(());
                }
                match (self.peek(), open.in_object()) {
                    (Some(b','), in_object) => {
                        self.bump();
                        if in_object {
                            self.walk_name(&mut names)?;
                        }
                        break;
                    }
                    (Some(b'}'), true) => {
                        if names.as_deref_mut().is_some_and(|names| !names.close()) {
                            return Err(Malformed::Duplicate);
                        }
                    }
                    (Some(b']'), false) => {}
                    _ => return Err(Malformed::Syntax),
                }
                self.bump();
                open.pop();
            }
        }
    }

    /// A member's name and colon on a walk.
    fn walk_name(&mut self, names: &mut Option<&mut Names<'t>>) -> Result<(), Malformed> {
        if let Some(names) = names {
            names.push(self.string()?.unescape());
        } else {
            self.expect(b'"')?;
            self.string_tail()?;
        }
        self.expect(b':')
    }

    /// The rest of a string whose opening quotation mark is read. Whether it holds an escape.
    fn string_tail(&mut self) -> Result<bool, Malformed> {
        let mut escaped = false;
        loop {
            let special = string::find_special(self.rest).ok_or(Malformed::Syntax)?;
            match self.rest.get(special..) {
                Some([b'"', rest @ ..]) => {
                    self.rest = rest;
                    return Ok(escaped);
                }
                Some([b'\\', rest @ ..]) => {
                    let length = string::scan_escape(rest)?;
                    self.rest = rest.get(length..).ok_or(Malformed::Syntax)?;
                    escaped = true;
                }
                _ => return Err(Malformed::Syntax),
            }
        }
    }

    fn number_body(&mut self) -> Result<(), Malformed> {
        let length = number::scan(self.rest)?;
        self.rest = self.rest.get(length..).ok_or(Malformed::Syntax)?;
        Ok(())
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Malformed> {
        self.rest = self.rest.strip_prefix(word).ok_or(Malformed::Syntax)?;
        Ok(())
    }

    /// Passes over blanks and this byte.
    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.peek() != Some(byte) {
            return Err(Malformed::Syntax);
        }
        self.bump();
        Ok(())
    }

    /// Passes over blanks and returns the byte behind them, which stays.
    fn peek(&mut self) -> Option<u8> {
        while let [b' ' | b'\n' | b'\r' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
        self.rest.first().copied()
    }

    /// Passes over one byte.
    fn bump(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    fn position(&self) -> usize {
        self.text.len() - self.rest.len()
    }
}
