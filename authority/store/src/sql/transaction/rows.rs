//! Rows that are written together: what each table declares so that the rows of many jobs can be sent as one
//! statement.
//!
//! On PostgreSQL the text of the statement is the same for any number of rows, because columns are sent as arrays. On
//! SQLite there are a few texts, for a few numbers of rows. So each text is prepared once. The condition under which
//! a row's write counts is part of the table's SQL ([`Table::rest`]). The number of rows touched is compared with the
//! number of rows sent.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::counter::Counter;
use crate::driver::{Dialect, Kind, Value};

/// How many rows a write must touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touches {
    /// Every row that is sent; the string names the record in errors. If one is not touched, its previous version is
    /// not the one that was read, or the row is another tenant's, and the job cannot be committed.
    Each(&'static str),
    /// Any number.
    Any,
}

/// The order in which tables are written: parents before those that refer to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TableOrder {
    Stream,
    OrderCounter,
    Checkout,
    Payment,
    Order,
    OrderLine,
    Refund,
    Shipment,
    Event,
    Delivery,
    Attempt,
    Condition,
    ProcessorReport,
    AuditEntry,
    Idempotency,
    Figure,
    Instance,
    /// Changes rows of payments by what is stored of their refunds: after both.
    RefundReservation,
    /// Changes rows of order lines: after them.
    LineMark,
}

impl TableOrder {
    /// Whether these rows go in a statement after all others. A statement sees the rows as they were before it, and
    /// changes a row once.
    fn is_sent_later(self) -> bool {
        matches!(self, Self::RefundReservation | Self::LineMark)
    }
}

/// A table whose rows may be buffered.
pub(crate) struct Table {
    pub(crate) order: TableOrder,
    pub(crate) touches: Touches,
    pub(crate) columns: Columns,
    pub(crate) form: Form,
    /// The end of the statement: `ON CONFLICT …` with [`Form::Insert`], `WHERE … ON CONFLICT …` with
    /// [`Form::Counter`], `WHERE …` with [`Form::Update`].
    pub(crate) rest: &'static str,
    /// How rows with the same key are combined in one statement.
    pub(crate) together: Together,
}

/// The columns of a row; [`columns`] declares them.
pub(crate) struct Columns {
    /// The table, where the columns are its own, and their names.
    pub(crate) table: &'static str,
    pub(crate) names: &'static [&'static str],
    /// `INSERT INTO … (…)` or, with [`Form::Update`], `UPDATE … SET …`.
    pub(crate) into: &'static str,
    pub(crate) kinds: &'static [Kind],
}

/// Types, by their names.
macro_rules! kinds {
    ($($kind:ident),+) => { [$($crate::driver::Kind::$kind),+] };
}

/// The columns of rows that are inserted into a table: each with its type. Where a row's columns are not the table's,
/// the statement that they go into, and their types.
macro_rules! columns {
    (into $into:expr; $($kind:ident),+) => {
        $crate::sql::transaction::rows::Columns {
            table: "",
            names: &[],
            into: $into,
            kinds: &$crate::sql::transaction::rows::kinds!($($kind),+),
        }
    };
    ($table:literal: $name:ident $kind:ident $(, $names:ident $kinds:ident)*) => {
        $crate::sql::transaction::rows::Columns {
            table: $table,
            names: &[stringify!($name) $(, stringify!($names))*],
            into: concat!("INSERT INTO ", $table, " (", stringify!($name) $(, ", ", stringify!($names))*, ")"),
            kinds: &$crate::sql::transaction::rows::kinds!($kind $(, $kinds)*),
        }
    };
}

/// The end of an insertion that replaces these columns of a row with the same key, under a condition.
macro_rules! upsert {
    ($key:literal: $name:ident $(, $names:ident)* $(; $condition:expr)?) => {
        concat!(
            "ON CONFLICT (", $key, ") DO UPDATE SET ", stringify!($name), " = excluded.", stringify!($name)
            $(, ", ", stringify!($names), " = excluded.", stringify!($names))*
            $(, " ", $condition)?
        )
    };
}

/// The condition under which a row is the next version of the merchant's own record.
macro_rules! newer {
    ($table:literal) => {
        concat!(
            "WHERE ",
            $table,
            ".resource_version < excluded.resource_version AND ",
            $table,
            ".livemode = excluded.livemode AND ",
            $table,
            ".merchant_id = excluded.merchant_id"
        )
    };
}

/// The values of a row, in the order of its columns. A semicolon is a comma that ends a line.
macro_rules! row {
    ($($($value:expr),+);+) => { [$($($crate::driver::Value::from($value)),+),+] };
}

pub(crate) use {columns, kinds, newer, row, upsert};

/// What a statement does with its rows `v (column1, …)`.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    /// Inserts them as they are.
    Insert,
    /// Inserts for each the expressions that the databases have for themselves.
    SelectIn(fn(&'static Dialect) -> &'static str),
    /// Updates the rows of the table that match them.
    Update,
    /// Inserts, or moves on, counters that are still as they were read.
    Counter(Counter),
}

impl Form {
    /// The expressions to insert for each row, where they are not the row's own columns.
    pub(crate) fn select(self, dialect: &'static Dialect) -> Option<&'static str> {
        match self {
            Self::Insert | Self::Update => None,
            Self::Counter(Counter { select, .. }) => Some(select),
            Self::SelectIn(select) => Some(select(dialect)),
        }
    }
}

/// How rows with the same key are combined in one statement. A statement sees the rows as they were before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Together {
    /// A second row with the same key goes into the next statement.
    Apart,
    /// A counter: the second row replaces the first, but keeps the first start, which is the last column.
    Merged,
    /// The second row replaces the first.
    Replaced,
    /// Counts: from this column on, the second row's numbers are added to the first's.
    Added(usize),
    /// Every row gets one more column: its 1-based index among the statement's rows with the same value in this
    /// column.
    Numbered(usize),
}

/// A buffered row.
pub(crate) struct BufferedRow {
    /// The index in the transaction of the job that wrote it.
    pub(crate) job: usize,
    pub(crate) table: &'static Table,
    /// The keys that a read must name to see it. The first is the row's own.
    pub(crate) keys: Vec<String>,
    pub(crate) values: Vec<Value<'static>>,
}

/// Rows of one table, for one statement.
pub(crate) struct Group<'r> {
    pub(crate) table: &'static Table,
    pub(crate) lines: Vec<Line<'r>>,
}

/// A row as it is sent.
pub(crate) struct Line<'r> {
    values: Cow<'r, [Value<'static>]>,
    /// A value that follows them, or replaces the last one.
    end: Option<Value<'static>>,
}

impl<'r> Line<'r> {
    /// The value of every column.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value<'static>> {
        self.values.iter().chain(&self.end)
    }

    fn of(values: &'r [Value<'static>]) -> Self {
        Self { values: Cow::Borrowed(values), end: None }
    }

    /// Merges `later` into this row: the later values, but keeps the first start.
    fn moved_on(&mut self, later: &'r [Value<'static>]) {
        let from = self.end.take().or_else(|| self.values.last().cloned());
        self.values = Cow::Borrowed(later.split_last().map_or(later, |(_, values)| values));
        self.end = from;
    }

    /// Adds the numbers of `later` from this column on.
    fn add(&mut self, later: &[Value<'_>], first: usize) {
        for (sum, number) in self.values.to_mut().iter_mut().zip(later).skip(first) {
            if let (Value::Int(Some(sum)), Value::Int(Some(number))) = (sum, number) {
                *sum += number;
            }
        }
    }
}

/// Numbers the rows of one statement, where their table numbers them.
pub(crate) fn number(table: &Table, lines: &mut [Line<'_>]) {
    let Together::Numbered(column) = table.together else { return };
    let mut count: HashMap<&str, i64> = HashMap::new();
    for line in lines {
        if let Some(Value::Text(Some(key))) = line.values.get(column) {
            let nth = count.entry(key.as_ref()).or_default();
            *nth += 1;
            line.end = Some(Value::from(*nth));
        }
    }
}

/// Sorts rows into steps, to be sent one after the other, each of one group per table in the order of tables.
pub(crate) fn steps(rows: &[BufferedRow]) -> Vec<Vec<Group<'_>>> {
    let (later, first) = rows.iter().partition::<Vec<_>, _>(|row| row.table.order.is_sent_later());
    [first, later].into_iter().flat_map(steps_of).collect()
}

fn steps_of(rows: Vec<&BufferedRow>) -> Vec<Vec<Group<'_>>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for row in rows {
        match steps.last_mut().filter(|step| step.takes(row)) {
            Some(step) => step.add(row),
            None => {
                let mut step = Step::default();
                step.add(row);
                steps.push(step);
            }
        }
    }
    steps.into_iter().map(|step| step.groups.into_values().collect()).collect()
}

#[derive(Default)]
struct Step<'r> {
    groups: BTreeMap<TableOrder, Group<'r>>,
    /// The index in its group of the row with this key.
    indexes: HashMap<(TableOrder, &'r str), usize>,
}

impl<'r> Step<'r> {
    fn takes(&self, row: &BufferedRow) -> bool {
        match (row.table.together, row.keys.first()) {
            (Together::Apart, Some(key)) => !self.indexes.contains_key(&(row.table.order, key.as_str())),
            _ => true,
        }
    }

    fn add(&mut self, row: &'r BufferedRow) {
        let order = row.table.order;
        let lines = &mut self
            .groups
            .entry(order)
            .or_insert_with(|| Group { table: row.table, lines: Vec::new() })
            .lines;
        if let Some(key) = row.keys.first() {
            let at = *self.indexes.entry((order, key)).or_insert(lines.len());
            match (row.table.together, lines.get_mut(at)) {
                (Together::Merged, Some(earlier)) => return earlier.moved_on(&row.values),
                (Together::Replaced, Some(earlier)) => return *earlier = Line::of(&row.values),
                (Together::Added(first), Some(earlier)) => return earlier.add(&row.values, first),
                _ => {}
            }
        }
        lines.push(Line::of(&row.values));
    }
}
