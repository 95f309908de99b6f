//! The statements that begin a transaction and take its turns, which are rows (contract 21.2).

use crate::shards::ShardSet;

/// The isolation level is named because the server's default may be another one: with a single snapshot for the whole
/// transaction, taken before the turns are held, a use case would not see what was written while it waited.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

const SAVEPOINT: &str = "SAVEPOINT job";

/// How long a statement waits for a lock, in milliseconds.
pub(super) const LOCK_WAIT_MS: u32 = 5_000;

/// How long a transaction waits for its turns before it gives back those that it has, in milliseconds. It tries again
/// ([`crate::writer`]).
const TURN_WAIT_MS: u32 = 900;

/// The statements that begin a transaction. Turns are rows, locked in ascending order, so that no two transactions wait
/// for each other. Without `wait`, those that another transaction holds are left out. Who waits for several holds some
/// of them meanwhile, and therefore not for long.
pub(super) fn begin(turns: ShardSet, wait: bool) -> String {
    if turns.is_empty() {
        return format!("{BEGIN}; {SAVEPOINT}");
    }
    match wait {
        false => format!("{BEGIN}; {}; {SAVEPOINT}", take(turns, " SKIP LOCKED")),
        true => format!(
            "{BEGIN}; SET LOCAL lock_timeout = {TURN_WAIT_MS}; {}; SET LOCAL lock_timeout = {LOCK_WAIT_MS}; {SAVEPOINT}",
            take(turns, "")
        ),
    }
}

/// The statements that take more turns, those that nobody holds, in a transaction that has sent nothing yet. Before the
/// savepoint: a job that is undone must not give them back.
pub(super) fn take_also(turns: ShardSet) -> String {
    format!("RELEASE {SAVEPOINT}; {}; {SAVEPOINT}", take(turns, " SKIP LOCKED"))
}

/// The statement that takes these turns, or those of them that nobody holds.
fn take(turns: ShardSet, skip_locked: &str) -> String {
    let shards: Vec<String> = turns.all().map(|shard| shard.number().to_string()).collect();
    let shards = shards.join(", ");
    format!("SELECT shard FROM turns WHERE shard IN ({shards}) ORDER BY shard FOR UPDATE{skip_locked}")
}
