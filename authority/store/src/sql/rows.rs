//! Rows that are written together: what each table declares so that the rows of many jobs can be sent as one
//! statement.
//!
//! On PostgreSQL the text of the statement is the same for any number of rows, because columns are sent as arrays. On
//! SQLite there are a few texts, for a few numbers of rows. So each text is prepared once. The condition under which
//! a row's write counts is part of the table's SQL ([`Table::rest`]). The number of rows touched is compared with the
//! number of rows sent.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

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

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Int,
    Bool,
    Bytes,
}

/// A table whose rows may be buffered.
pub(crate) struct Table {
    pub(super) order: TableOrder,
    pub(super) touches: Touches,
    /// `INSERT INTO … (…)` or, with [`Form::Update`], `UPDATE … SET …`.
    pub(super) into: &'static str,
    /// The types of a row's columns.
    pub(super) columns: &'static [Kind],
    pub(super) form: Form,
    /// The end of the statement: `ON CONFLICT …` with [`Form::Insert`], `WHERE … ON CONFLICT …` with
    /// [`Form::Select`], `WHERE …` with [`Form::Update`].
    pub(super) rest: &'static str,
    /// How rows with the same key are combined in one statement.
    pub(super) together: Together,
}

/// What a statement does with its rows `v (column1, …)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Inserts them as they are.
    Insert,
    /// Inserts these expressions for each.
    Select(&'static str),
    /// Updates the rows of the table that match them.
    Update,
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

/// The value of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Option<String>),
    Int(Option<i64>),
    Bool(Option<bool>),
    Bytes(Option<Vec<u8>>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Some(text))
    }
}

impl From<Option<&str>> for Value {
    fn from(text: Option<&str>) -> Self {
        Self::Text(text.map(str::to_owned))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(Some(number))
    }
}

impl From<Option<i64>> for Value {
    fn from(number: Option<i64>) -> Self {
        Self::Int(number)
    }
}

impl From<bool> for Value {
    fn from(yes: bool) -> Self {
        Self::Bool(Some(yes))
    }
}

impl From<Option<bool>> for Value {
    fn from(yes: Option<bool>) -> Self {
        Self::Bool(yes)
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(Some(bytes.to_vec()))
    }
}

impl From<Option<Vec<u8>>> for Value {
    fn from(bytes: Option<Vec<u8>>) -> Self {
        Self::Bytes(bytes)
    }
}

/// A buffered row.
pub(crate) struct Row {
    /// The index in the transaction of the job that wrote it.
    pub(super) job: usize,
    pub(super) table: &'static Table,
    /// The keys that a read must name to see it. The first is the row's own.
    pub(super) keys: Vec<String>,
    pub(super) values: Vec<Value>,
}

/// Rows of one table, for one statement.
pub(super) struct Group<'r> {
    pub(super) table: &'static Table,
    pub(super) lines: Vec<Line<'r>>,
}

/// A row as it is sent.
pub(super) struct Line<'r> {
    values: Cow<'r, [Value]>,
    /// A value that follows them, or replaces the last one.
    end: Option<Value>,
}

impl<'r> Line<'r> {
    /// The value of every column.
    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.iter().chain(&self.end)
    }

    fn of(values: &'r [Value]) -> Self {
        Self { values: Cow::Borrowed(values), end: None }
    }

    /// Merges `later` into this row: the later values, but keeps the first start.
    fn moved_on(&mut self, later: &'r [Value]) {
        let from = self.end.take().or_else(|| self.values.last().cloned());
        self.values = Cow::Borrowed(later.split_last().map_or(later, |(_, values)| values));
        self.end = from;
    }

    /// Adds the numbers of `later` from this column on.
    fn add(&mut self, later: &[Value], first: usize) {
        for (sum, number) in self.values.to_mut().iter_mut().zip(later).skip(first) {
            if let (Value::Int(Some(sum)), Value::Int(Some(number))) = (sum, number) {
                *sum += number;
            }
        }
    }
}

/// Numbers the rows of one statement, where their table numbers them.
pub(super) fn number(table: &Table, lines: &mut [Line<'_>]) {
    let Together::Numbered(column) = table.together else { return };
    let mut count: HashMap<&str, i64> = HashMap::new();
    for line in lines {
        if let Some(Value::Text(Some(key))) = line.values.get(column) {
            let nth = count.entry(key).or_default();
            *nth += 1;
            line.end = Some(Value::from(*nth));
        }
    }
}

/// Sorts rows into steps, to be sent one after the other, each of one group per table in the order of tables.
pub(super) fn steps(rows: &[Row]) -> Vec<Vec<Group<'_>>> {
    let (later, first) = rows.iter().partition::<Vec<_>, _>(|row| row.table.order.is_sent_later());
    [first, later].into_iter().flat_map(steps_of).collect()
}

fn steps_of(rows: Vec<&Row>) -> Vec<Vec<Group<'_>>> {
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
    fn takes(&self, row: &Row) -> bool {
        match (row.table.together, row.keys.first()) {
            (Together::Apart, Some(key)) => !self.indexes.contains_key(&(row.table.order, key.as_str())),
            _ => true,
        }
    }

    fn add(&mut self, row: &'r Row) {
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
