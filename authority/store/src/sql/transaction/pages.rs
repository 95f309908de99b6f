//! Pages of lists: the positions of records, what is read for a page, and reading its rows one by one and no more of
//! them than a page may hold.
//!
//! A page is asked for by a number of rows, and a row can be large. The rows are taken from the database as they come
//! and the reading stops with the first one that the page has no room for, so that nobody's list is ever in memory as a
//! whole. That one row too many is part of what is returned: it tells the caller that there is a next page.

use futures_util::TryStreamExt;
use futures_util::stream::BoxStream;

use crate::driver::{Column, Error, Row};
use crate::error::Result;

/// The most bytes of items that a page of a list may hold (contract 18.2): reading stops at the first row that does
/// not fit.
pub const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// The most rows that a page looks at for those that match its filters, where no index finds them.
pub const LOOK_AHEAD: i64 = 10_000;

/// What was read for a page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// In the order of the list, each with its position.
    pub rows: Vec<(i64, T)>,
    /// The page looked at [`LOOK_AHEAD`] rows, of which this position is the last. What is behind it was not looked at.
    pub looked_to: Option<i64>,
}

impl<T> From<Vec<(i64, T)>> for Page<T> {
    /// A page that looked as far as it had to.
    fn from(rows: Vec<(i64, T)>) -> Self {
        Self { rows, looked_to: None }
    }
}

/// What was read for a page of an operator's list, which goes by ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageById<T> {
    /// In the order of the list.
    pub rows: Vec<T>,
    /// The page looked at [`LOOK_AHEAD`] rows, of which this is the last one's id.
    pub looked_to: Option<String>,
}

impl<T> From<Vec<T>> for PageById<T> {
    /// A page that looked as far as it had to.
    fn from(rows: Vec<T>) -> Self {
        Self { rows, looked_to: None }
    }
}

/// The sequence numbers of one record's events in one commit: the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceRange {
    /// The record's position in lists, when this is its first commit.
    pub first: i64,
    /// The order's position in the feed of changes.
    pub last: i64,
}

/// Collects what `read` makes of the rows, each with its size in bytes, up to the row behind the page's last one.
pub(crate) async fn page_rows<T>(
    mut rows: BoxStream<'_, Result<Row, Error>>,
    read: impl Fn(&Row) -> Result<(usize, T)>,
) -> Result<Vec<T>> {
    let (mut found, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.try_next().await? {
        let (size, item) = read(&row)?;
        found.push(item);
        bytes += size;
        if bytes > PAGE_BYTES && found.len() > 1 {
            break;
        }
    }
    Ok(found)
}

/// Rows that are a position and a stored text.
pub(crate) async fn placed_texts<P: for<'r> Column<'r>>(
    rows: BoxStream<'_, Result<Row, Error>>,
) -> Result<Vec<(P, String)>> {
    page_rows(rows, placed_text).await
}

/// A row that is a position and a stored text, with its size.
pub(crate) fn placed_text<P: for<'r> Column<'r>>(row: &Row) -> Result<(usize, (P, String))> {
    let text: String = row.get(1)?;
    Ok((text.len(), (row.get(0)?, text)))
}
