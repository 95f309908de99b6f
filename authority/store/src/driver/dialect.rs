//! What the two databases say differently.

use crate::migrations::Known;
use crate::shards::ShardSet;

/// A database's own words. Its batches and its placeholders are in its module as well ([`super::Target`]).
pub(crate) struct Dialect {
    /// Leases due deliveries of all endpoints, or with `shards_apart` those of the shard `$13`; see there for the
    /// parameters.
    pub(crate) lease_due: &'static str,
    /// Leases due deliveries of the endpoints in `$11` only, which are in one of the shards `$12`.
    pub(crate) lease_due_among: &'static str,
    /// The columns of a new delivery, whose position continues from the endpoint's last one.
    pub(crate) new_delivery: &'static str,
    /// Rows of several tables are a statement for each, not one for all.
    pub(crate) tables_apart: bool,
    /// A statement that joins, locks or leases does so in one shard.
    pub(crate) shards_apart: bool,
    /// The end of a statement that locks the rows it read.
    pub(crate) lock_rows: &'static str,
    /// The database's own time in milliseconds.
    pub(crate) now_ms: &'static str,
    /// What is inserted of an instance that is seen now.
    pub(crate) seen_now: &'static str,
    /// The processor's name for a payment, as the index `payments_by_processor_reference` has it.
    pub(crate) processor_reference: &'static str,
    /// The triggers that prevent changes to events (T3), by name.
    pub(crate) guards: &'static [&'static str],
    /// Which of them exist and are not switched off.
    pub(crate) guards_present: &'static str,
    /// Begins a transaction that reads everything as it was at one time.
    pub(crate) begin_snapshot: &'static str,
    /// With fewer keys than this nothing is looked up before the job that needs it.
    pub(crate) worth_looking_up: usize,
    /// Whether the database has a clock that is not this machine's.
    pub(crate) has_clock: bool,
    /// The shards that there are.
    pub(crate) shards: ShardSet,
    /// The endpoints that have unfinished work, as rows `waiting (shard, endpoint_id)`, the last row null, found with
    /// one index step each. So the cost does not depend on how many deliveries are pending or have ended, nor on how
    /// many endpoints are idle. Opens the statement.
    pub(crate) waiting: &'static str,
    /// The schema that this program knows.
    pub(crate) known: fn() -> Known,
}
