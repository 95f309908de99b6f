//! What is kept between runs, and the SQL for it: one row.
//!
//! The position moves only from where the run began its page ([`MOVE`]): should two runs ever overlap, or the position
//! be forgotten meanwhile, the one that comes too late changes nothing.

/// Creates the table with its one row.
pub const CREATE: &str = "\
CREATE TABLE IF NOT EXISTS reconciliation (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  position TEXT,
  not_before INTEGER NOT NULL DEFAULT 0,
  completed_at INTEGER,
  last_run TEXT
);
INSERT INTO reconciliation (only_row) VALUES (1) ON CONFLICT DO NOTHING";

/// The position, `NULL` before the oldest event that is kept, and until when the API is to be left alone (Unix
/// milliseconds).
pub const READ: &str = "SELECT position, not_before FROM reconciliation";

/// What `GET /health` shows: whether there is a position, when the end of the list was last reached (Unix
/// milliseconds), and the last run's report (JSON).
pub const SHOW: &str = "SELECT position IS NOT NULL, completed_at, last_run FROM reconciliation";

/// Moves the position to the first parameter if it is the second. Yields a row when it did.
pub const MOVE: &str = "UPDATE reconciliation SET position = ? WHERE position IS ? RETURNING only_row";

/// Keeps a run's report and until when the API is to be left alone.
pub const REPORT: &str = "UPDATE reconciliation SET last_run = ?, not_before = ?";

/// Notes that the end of the list was reached.
pub const COMPLETE: &str = "UPDATE reconciliation SET completed_at = ?";

/// Forgets the position, so that the next run begins with the oldest event that is kept.
pub const FORGET: &str = "UPDATE reconciliation SET position = NULL, not_before = 0";
