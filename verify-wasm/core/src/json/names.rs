//! Repeated member names: collected while an object is open, compared when it closes.
//!
//! Names go on one stack for all open objects; an object remembers where its own begin. At its end its share
//! is taken in order, each compared with the one before, so an object of n names costs n log n, whatever an
//! attacker writes. A heap gives the order with a quarter of the code of `sort`.

use alloc::borrow::Cow;
use alloc::collections::BinaryHeap;
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
        let mut own: BinaryHeap<_> = self.names.drain(start..).collect();
        let mut unique = true;
        let mut previous = None;
        while let Some(name) = own.pop() {
            unique &= previous.as_ref() != Some(&name);
            previous = Some(name);
        }
        unique
    }
}
