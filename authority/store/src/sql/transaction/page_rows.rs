//! Reading the rows of a page one by one, and no more of them than a page may hold.
//!
//! A page is asked for by a number of rows, and a row can be large. The rows are taken from the database as they come
//! and the reading stops with the first one that the page has no room for, so that nobody's list is ever in memory as a
//! whole. That one row too many is part of what is returned: it tells the caller that there is a next page.

use futures_util::TryStreamExt;
use futures_util::stream::BoxStream;

use crate::Result;
use crate::driver::{Column, Error, Row};
use crate::tx::PAGE_BYTES;

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
