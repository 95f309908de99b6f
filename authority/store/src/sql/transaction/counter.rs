//! Counters, which move on only from the values that were read.

/// The expressions to insert for each counter, and the same as two statements, for a database that does not look at the
/// stored rows while it inserts others: one moves those that there are, and one inserts those that begin.
#[derive(Clone, Copy)]
pub(crate) struct Counter {
    pub(crate) select: &'static str,
    pub(crate) update: &'static str,
    /// The end of that.
    pub(crate) moves: &'static str,
    /// The end of the insertion.
    pub(crate) begins: &'static str,
}

/// The sequence numbers of one record's events in one commit: the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceRange {
    /// The record's position in lists, when this is its first commit.
    pub first: i64,
    /// The order's position in the feed of changes.
    pub last: i64,
}
