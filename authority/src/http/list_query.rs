//! The query parameters that the lists of both APIs share, besides their own filters (contract 4.5).

use authority_domain::Result;

use super::operation::Operation;
use super::query::Query;
use crate::app::ListRequest;

/// Rows per page by default.
const ROWS: u16 = 25;
/// The same for feeds.
const FEED_ROWS: u16 = 100;

/// The parameters that all lists share; call this after reading the list's own filters. The cursors of a list below
/// another record, `parent`, are bound to that record as well.
pub(super) fn list_request(
    mut query: Query,
    operation: &Operation,
    parent: Option<&str>,
) -> Result<ListRequest> {
    let limit = query.limit(if operation.has_resume_cursor() { FEED_ROWS } else { ROWS })?;
    let cursor = query.cursor();
    let filter = query.finish()?;
    let filter = parent.map_or_else(|| filter.as_str().to_owned(), |parent| filter.within(parent));
    Ok(ListRequest { limit, cursor, filter })
}
