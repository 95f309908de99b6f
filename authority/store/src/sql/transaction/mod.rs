//! The machinery of a transaction, which no aggregate has to itself.
//!
//! [`tx`] is what a job is given. Its rows are buffered and sent together ([`write_buffer`], [`write_batch`],
//! [`rows`]), before a statement that may see them ([`statements`]). What queued jobs will read first is looked up at
//! once ([`first_reads`], [`lookups`], [`lookup_kinds`]), and what the transaction has read is cached
//! ([`transaction_cache`]); both go by the keys of rows ([`keys`]). The rest is shared by the reads: records by their
//! stored text ([`bodies`]), and pages of lists ([`pages`], [`look_ahead`]).

pub(crate) mod bodies;
pub(crate) mod columns;
pub(crate) mod counter;
pub(crate) mod first_reads;
pub(crate) mod keys;
pub(crate) mod look_ahead;
pub(crate) mod lookup_kinds;
pub(crate) mod lookups;
pub(crate) mod pages;
pub(crate) mod rows;
pub(crate) mod statements;
pub(crate) mod transaction_cache;
pub(crate) mod tx;
pub(crate) mod write_batch;
pub(crate) mod write_buffer;

pub use tx::Tx;
