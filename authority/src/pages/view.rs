//! The parts that pages are made of: facts and tables, whose cells are texts, times and links.

use authority_domain::{Refusal, Result, Timestamp};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A value on a page.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    /// Nothing is known.
    Nothing,
    /// A text of anybody.
    Text(String),
    /// A state, such as `failing`.
    State(String),
    /// A time in UTC.
    Time(String),
    /// A text that leads to a page of the site.
    Link {
        /// What is seen.
        text: String,
        /// The page's path.
        path: String,
    },
}

/// A fact with its name.
pub(crate) struct Fact {
    /// What it is.
    pub(crate) name: &'static str,
    /// Its value.
    pub(crate) value: Cell,
}

impl Fact {
    /// Facts of which nothing is known are left out.
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self.value, Cell::Nothing)
    }
}

/// Rows under headings.
pub(crate) struct Table {
    /// What the table shows.
    pub(crate) caption: &'static str,
    /// The headings of its columns.
    pub(crate) head: &'static [&'static str],
    /// The rows; the first cell is the heading of its row.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// What to say when there is no row.
    pub(crate) empty: &'static str,
}

impl Cell {
    /// A text.
    pub(crate) fn text(text: impl ToString) -> Self {
        let text = text.to_string();
        if text.is_empty() { Self::Nothing } else { Self::Text(text) }
    }

    /// A text that may be absent.
    pub(crate) fn some<T: ToString>(text: Option<T>) -> Self {
        text.map_or(Self::Nothing, Self::text)
    }

    /// A state.
    pub(crate) fn state(state: impl ToString) -> Self {
        Self::State(state.to_string())
    }

    /// A time.
    pub(crate) fn at(time: Timestamp) -> Self {
        Self::Time(time.to_string())
    }

    /// A time that may be absent.
    pub(crate) fn maybe_at(time: Option<Timestamp>) -> Self {
        time.map_or(Self::Nothing, Self::at)
    }

    /// A link.
    pub(crate) fn link(text: impl ToString, path: String) -> Self {
        Self::Link { text: text.to_string(), path }
    }
}

/// A fact.
pub(crate) fn fact(name: &'static str, value: Cell) -> Fact {
    Fact { name, value }
}

/// A member of a record as text; empty when there is none.
pub(crate) fn member(record: &Value, name: &str) -> String {
    match record.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A time of a record.
pub(crate) fn time_of(record: &Value, name: &str) -> Cell {
    let text = member(record, name);
    if text.is_empty() { Cell::Nothing } else { Cell::Time(text) }
}

/// How long something takes, in words.
pub(crate) fn duration(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// What `text` says as JSON.
///
/// # Errors
/// `internal_error` when it is none: the text comes from a use case.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|_| Refusal::internal())
}
