//! The table of one inbox: the records and the statements.
//!
//! A record that is not finished has a `due_at`: when the next attempt may be made, Unix milliseconds of the runtime's
//! clock, 0 for at once. A finished one has none, so what is left to do is one small index, however many records there
//! are.

use verify_core::receiver::{Claimed, Record, Status};
use worker::{Result, SqlStorage, SqlStorageValue};

use super::operation::Retried;
use super::schedule::PURGE_STEP;
use super::stored::{Stored, Summary};

const CREATE: &str = "\
CREATE TABLE IF NOT EXISTS events (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  created_at TEXT NOT NULL,
  merchant_id TEXT NOT NULL,
  livemode INTEGER CHECK (livemode IN (0, 1)),
  received_at INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'received' CHECK (status IN ('received', 'processing', 'processed', 'error')),
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  due_at INTEGER DEFAULT 0 CHECK ((due_at IS NULL) = (status = 'processed')),
  body BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS events_unfinished ON events (status, due_at, received_at) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS events_finished ON events (received_at) WHERE due_at IS NULL;
CREATE TABLE IF NOT EXISTS removed (id INTEGER PRIMARY KEY CHECK (id = 1), bound INTEGER NOT NULL)";

/// Yields one row when the id was new and none when it was there already.
const INSERT: &str = "\
INSERT INTO events (id, type, created_at, merchant_id, livemode, received_at, body) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING RETURNING id";

const BEGIN: &str = "\
UPDATE events SET status = 'processing', attempts = attempts + 1, due_at = ?
WHERE id = (SELECT id FROM events WHERE status = ? AND due_at <= ? ORDER BY due_at, received_at LIMIT 1)
RETURNING id, attempts, body";

const SUCCEED: &str = "\
UPDATE events SET status = 'processed', last_error = NULL, due_at = NULL
WHERE id = ? AND attempts = ? AND status = 'processing'";

/// Somebody may have asked for the next attempt while this one was under way.
const FAIL: &str = "\
UPDATE events SET status = 'error', last_error = ?, due_at = CASE due_at WHEN 0 THEN 0 ELSE ? END
WHERE id = ? AND attempts = ? AND status = 'processing'";

const UNDER_WAY: &str = "SELECT id, attempts FROM events WHERE status = 'processing' AND due_at IS NOT NULL";

const NEXT_DUE: &str = "\
SELECT MIN(due_at) FROM (
  SELECT MIN(due_at) AS due_at FROM events WHERE status = 'received' AND due_at IS NOT NULL
  UNION ALL SELECT MIN(due_at) FROM events WHERE status = 'error' AND due_at IS NOT NULL)";

const DUE_NOW: &str = "UPDATE events SET due_at = 0 WHERE id = ? AND due_at IS NOT NULL RETURNING id";

const SELECT: &str = "\
SELECT id, type, created_at, merchant_id, livemode, received_at, status, attempts, last_error, due_at, body
FROM events WHERE id = ?";

const COUNT_UNFINISHED: &str = "\
SELECT status, COUNT(*), MIN(received_at) FROM events WHERE due_at IS NOT NULL GROUP BY status";

const COUNT_FINISHED: &str = "SELECT COUNT(*) FROM events WHERE due_at IS NULL";

/// Before a removal, if there is anything to remove: the highest bound so far.
const REMEMBER_BOUND: &str = "\
INSERT INTO removed (id, bound)
SELECT 1, ? WHERE EXISTS (SELECT 1 FROM events WHERE due_at IS NULL AND received_at < ?)
ON CONFLICT (id) DO UPDATE SET bound = MAX(bound, excluded.bound)";

const REMOVED_BEFORE: &str = "SELECT bound FROM removed";

const PURGE_FINISHED: &str = "\
DELETE FROM events WHERE id IN (
  SELECT id FROM events WHERE due_at IS NULL AND received_at < ? ORDER BY received_at LIMIT ?) RETURNING id";

const OLDEST_FINISHED: &str = "SELECT MIN(received_at) FROM events WHERE due_at IS NULL";

/// Without a sink nothing is ever finished, and what nothing was attempted at is all that an inbox has.
const PURGE_RECEIVED: &str = "\
DELETE FROM events WHERE id IN (
  SELECT id FROM events WHERE status = 'received' AND due_at = 0 AND received_at < ? ORDER BY received_at LIMIT ?)
RETURNING id";

const OLDEST_RECEIVED: &str = "SELECT MIN(received_at) FROM events WHERE status = 'received' AND due_at = 0";

/// An attempt that was begun: ours for as long as the record has this number of attempts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Begun {
    pub(super) id: String,
    pub(super) attempts: i64,
}

/// Which records age: those that are handed over, or all when there is nobody to hand them to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ageing {
    Finished,
    Received,
}

type Row = Vec<SqlStorageValue>;

pub(super) struct Table(SqlStorage);

impl Table {
    pub(super) fn new(sql: SqlStorage) -> Self {
        Self(sql)
    }

    pub(super) fn create(&self) -> Result<()> {
        self.0.exec(CREATE, None).map(drop)
    }

    /// Records an event, if its id is new.
    pub(super) fn insert(&self, record: &Record<'_>) -> Result<Claimed> {
        let row = self.row(
            INSERT,
            vec![
                record.id.into(),
                record.event_type.into(),
                record.created_at.into(),
                record.merchant_id.into(),
                // SQLite has no boolean, and the runtime takes none: 0 and 1.
                record.livemode.map(i32::from).into(),
                SqlStorageValue::try_from_i64(record.received_at_ms)?,
                record.body.to_vec().into(),
            ],
        )?;
        Ok(if row.is_some() { Claimed::First } else { Claimed::Duplicate })
    }

    /// Begins an attempt at the event in this state that has been due for the longest time at `now_ms`.
    pub(super) fn begin(&self, status: Status, now_ms: i64) -> Result<Option<(Begun, Vec<u8>)>> {
        let Some(row) = self.row(BEGIN, vec![now_ms.into(), status.as_str().into(), now_ms.into()])? else {
            return Ok(None);
        };
        match <[_; 3]>::try_from(row) {
            Ok(
                [
                    SqlStorageValue::String(id),
                    SqlStorageValue::Integer(attempts),
                    SqlStorageValue::Blob(body),
                ],
            ) => Ok(Some((Begun { id, attempts }, body))),
            _ => Err(unreadable()),
        }
    }

    /// Notes that an attempt succeeded.
    pub(super) fn succeed(&self, begun: &Begun) -> Result<()> {
        self.row(SUCCEED, vec![begun.id.as_str().into(), begun.attempts.into()]).map(drop)
    }

    /// Notes why an attempt failed, and when the next one is due.
    pub(super) fn fail(&self, begun: &Begun, error: &str, due_at_ms: i64) -> Result<()> {
        let parameters =
            vec![error.into(), due_at_ms.into(), begun.id.as_str().into(), begun.attempts.into()];
        self.row(FAIL, parameters).map(drop)
    }

    /// The attempts that were begun and have not ended.
    pub(super) fn under_way(&self) -> Result<Vec<Begun>> {
        let rows = self.0.exec(UNDER_WAY, None)?.raw();
        rows.map(|row| match <[_; 2]>::try_from(row?) {
            Ok([SqlStorageValue::String(id), SqlStorageValue::Integer(attempts)]) => {
                Ok(Begun { id, attempts })
            }
            _ => Err(unreadable()),
        })
        .collect()
    }

    /// When the next attempt is due, Unix milliseconds.
    pub(super) fn next_due_ms(&self) -> Result<Option<i64>> {
        self.number(NEXT_DUE, Vec::new())
    }

    /// Makes an event due now, unless it is finished.
    pub(super) fn retry(&self, id: &str) -> Result<Retried> {
        if self.row(DUE_NOW, vec![id.into()])?.is_some() {
            return Ok(Retried::Scheduled);
        }
        let is_there = self.row("SELECT id FROM events WHERE id = ?", vec![id.into()])?.is_some();
        Ok(if is_there { Retried::AlreadyProcessed } else { Retried::Unknown })
    }

    /// The record of an event.
    pub(super) fn look_up(&self, id: &str) -> Result<Option<Stored>> {
        self.row(SELECT, vec![id.into()])?.map(|row| stored(row).ok_or_else(unreadable)).transpose()
    }

    /// How the records stand.
    pub(super) fn summary(&self) -> Result<Summary> {
        let mut summary = Summary::default();
        for row in self.0.exec(COUNT_UNFINISHED, None)?.raw() {
            let Ok([SqlStorageValue::String(status), SqlStorageValue::Integer(count), oldest]) =
                <[_; 3]>::try_from(row?)
            else {
                return Err(unreadable());
            };
            *summary.count(Status::parse(&status).ok_or_else(unreadable)?) = count.cast_unsigned();
            summary.notice(integer(oldest));
        }
        summary.processed = self.number(COUNT_FINISHED, Vec::new())?.unwrap_or_default().cast_unsigned();
        Ok(summary)
    }

    /// Removes records that were taken in before `bound_ms`, at most [`PURGE_STEP`] of them, and says when the oldest
    /// that is left was taken in. The bound is remembered where they had been handed over.
    pub(super) fn purge(&self, ageing: Ageing, bound_ms: i64) -> Result<Option<i64>> {
        let (purge, oldest) = match ageing {
            Ageing::Finished => (PURGE_FINISHED, OLDEST_FINISHED),
            Ageing::Received => (PURGE_RECEIVED, OLDEST_RECEIVED),
        };
        if ageing == Ageing::Finished {
            self.row(REMEMBER_BOUND, vec![bound_ms.into(), bound_ms.into()])?;
        }
        let step = i32::try_from(PURGE_STEP).unwrap_or(i32::MAX);
        for row in self.0.exec(purge, vec![bound_ms.into(), step.into()])?.raw() {
            row?;
        }
        self.number(oldest, Vec::new())
    }

    /// The highest bound up to which records of events that were handed over have been removed.
    pub(super) fn removed_before_ms(&self) -> Result<Option<i64>> {
        self.number(REMOVED_BEFORE, Vec::new())
    }

    /// The first row of a statement.
    fn row(&self, statement: &str, parameters: Row) -> Result<Option<Row>> {
        self.0.exec(statement, parameters)?.raw().next().transpose()
    }

    fn number(&self, statement: &str, parameters: Row) -> Result<Option<i64>> {
        Ok(self.row(statement, parameters)?.and_then(|row| row.into_iter().next()).and_then(integer))
    }
}

fn stored(row: Row) -> Option<Stored> {
    let [
        id,
        event_type,
        created_at,
        merchant_id,
        livemode,
        received_at,
        status,
        attempts,
        last_error,
        due_at,
        body,
    ] = <[_; 11]>::try_from(row).ok()?;
    let SqlStorageValue::Blob(body) = body else { return None };
    Some(Stored {
        id: text(id)?,
        event_type: text(event_type)?,
        created_at: text(created_at)?,
        merchant_id: text(merchant_id)?,
        livemode: integer(livemode).map(|livemode| livemode != 0),
        received_at_ms: integer(received_at)?,
        status: Status::parse(&text(status)?)?,
        attempts: integer(attempts)?,
        last_error: text(last_error),
        due_at_ms: integer(due_at),
        text: String::from_utf8(body).ok()?,
    })
}

fn text(value: SqlStorageValue) -> Option<String> {
    match value {
        SqlStorageValue::String(text) => Some(text),
        _ => None,
    }
}

fn integer(value: SqlStorageValue) -> Option<i64> {
    match value {
        SqlStorageValue::Integer(number) => Some(number),
        _ => None,
    }
}

fn unreadable() -> worker::Error {
    "a row of the inbox cannot be read".into()
}
