//! Repeated member names: collected while an object is open, compared when it closes.
//!
//! Names go on one stack for all open objects; an object remembers where its own begin. At its end its share
//! is sorted and neighbours are compared, so an object of n names costs n log n, whatever an attacker writes.

use alloc::borrow::Cow;
use alloc::vec::Vec;

/// The names of the objects that are open, innermost last. The outermost need not be opened.
#[derive(Debug, Default)]
pub(crate) struct Names<'t> {
    names: Vec<Cow<'t, str>>,
    starts: Vec<usize>,
}

impl<'t> Names<'t> {
    /// No object is open.
    pub(crate) const fn new() -> Self {
        Self { names: Vec::new(), starts: Vec::new() }
    }

    /// An object begins.
    pub(crate) fn open(&mut self) {
        self.starts.push(self.names.len());
    }

    /// The innermost object has a member of this name.
    pub(crate) fn push(&mut self, name: Cow<'t, str>) {
        self.names.push(name);
    }

    /// The innermost object ends. Whether all its names were different.
    pub(crate) fn close(&mut self) -> bool {
        let start = self.starts.pop().unwrap_or_default();
        let Some(own) = self.names.get_mut(start..) else { return true };
        own.sort_unstable();
        let unique = own.windows(2).all(|pair| !matches!(pair, [left, right] if left == right));
        self.names.truncate(start);
        unique
    }
}
