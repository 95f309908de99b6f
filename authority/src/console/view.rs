//! The parts that pages are made of: facts and tables, whose cells are texts, times and links.

use authority_domain::time::Timestamp;
use serde_json::Value;

use super::links;

/// A value on a page.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    /// Nothing is known.
    Nothing,
    /// A text of anybody.
    Text(String),
    /// A state, such as `failing`.
    State(String),
    /// A time in UTC.
    Time(String),
    /// A text that leads to a page of the console.
    Link {
        /// What is seen.
        text: String,
        /// The page's path.
        path: String,
    },
}

/// A fact with its name.
pub(super) struct Fact {
    /// What it is.
    pub(super) name: &'static str,
    /// Its value.
    pub(super) value: Cell,
}

impl Fact {
    /// Facts of which nothing is known are left out.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self.value, Cell::Nothing)
    }
}

/// Rows under headings.
pub(super) struct Table {
    /// What the table shows.
    pub(super) caption: &'static str,
    /// The headings of its columns.
    pub(super) head: &'static [&'static str],
    /// The rows; the first cell is the heading of its row.
    pub(super) rows: Vec<Vec<Cell>>,
    /// What to say when there is no row.
    pub(super) empty: &'static str,
}

impl Cell {
    /// A text.
    pub(super) fn text(text: impl ToString) -> Self {
        let text = text.to_string();
        if text.is_empty() { Self::Nothing } else { Self::Text(text) }
    }

    /// A text that may be absent.
    pub(super) fn some<T: ToString>(text: Option<T>) -> Self {
        text.map_or(Self::Nothing, Self::text)
    }

    /// A state.
    pub(super) fn state(state: impl ToString) -> Self {
        Self::State(state.to_string())
    }

    /// A time.
    pub(super) fn at(time: Timestamp) -> Self {
        Self::Time(time.to_string())
    }

    /// A time that may be absent.
    pub(super) fn maybe_at(time: Option<Timestamp>) -> Self {
        time.map_or(Self::Nothing, Self::at)
    }

    /// A link.
    pub(super) fn link(text: impl ToString, path: String) -> Self {
        Self::Link { text: text.to_string(), path }
    }

    /// The same text as an id that leads to its record.
    pub(super) fn linked(self) -> Self {
        match self {
            Self::Text(id) => Self::id(id),
            other => other,
        }
    }

    /// An id that leads to its record.
    pub(super) fn id(id: impl ToString) -> Self {
        let id = id.to_string();
        if id.is_empty() {
            return Self::Nothing;
        }
        let path = links::anything(&id);
        Self::Link { text: id, path }
    }
}

/// A fact.
pub(super) fn fact(name: &'static str, value: Cell) -> Fact {
    Fact { name, value }
}

/// A member of a record as text; empty when there is none.
pub(super) fn member(record: &Value, name: &str) -> String {
    match record.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A time of a record.
pub(super) fn time_of(record: &Value, name: &str) -> Cell {
    let text = member(record, name);
    if text.is_empty() { Cell::Nothing } else { Cell::Time(text) }
}

/// How long something takes, in words.
pub(super) fn duration(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} days", seconds / 86_400),
    }
}
