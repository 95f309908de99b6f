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
