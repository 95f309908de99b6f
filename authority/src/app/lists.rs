//! Pages of lists: cursors in, cursors out (contract 4.5, 8.5, 8.6).
//!
//! A page ends at a number of rows or at a number of bytes, whichever comes first. A list reads one row more than
//! the page holds; there is a next page only when that row exists, or when few rows match the filters and the page
//! ended where its look-ahead did ([`Page::looked_to`]). Items are passed on as the stored text. A
//! merchant's lists are ordered by the sequences of its stream; the operator's lists span all merchants and are
//! ordered by the records' ids, which follow the order of creation. `App::list` and `App::operator_list` implement
//! these two; a feed, which also returns where to resume, builds its page itself. Keys and recoveries have no place in
//! a stream, and go by ids on a merchant's pages too; the filter then names whose they are, and so binds the cursor.

use authority_domain::cursor::Owner;
use authority_domain::{ErrorCode, ListKind, Refusal, Result, Tenant};
use authority_store::tx::{PAGE_BYTES, Page, PageById};
use serde::Serialize;

use super::App;
use super::job::ReadingOf;

/// A request for a page of a list.
#[derive(Clone, Debug)]
pub struct ListRequest {
    /// Rows per page, 1–100.
    pub limit: u16,
    /// Where to continue; `None` from the start.
    pub cursor: Option<String>,
    /// The canonical text of the filters, to which the cursor is bound.
    pub filter: String,
}

/// One page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// JSON texts.
    pub items: Vec<String>,
    /// Absent on the last page.
    pub next_cursor: Option<String>,
    /// On feeds only: the position after the last item of this page, whether or not more follow.
    pub resume_cursor: Option<String>,
}

/// A record as a list shows it.
pub(super) struct Item {
    text: String,
    /// The space it takes on a page: the size that the store counted when it stopped reading.
    bytes: usize,
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Self { bytes: text.len(), text }
    }
}

impl Item {
    /// An item that is shorter than the stored text it was made from.
    pub(super) fn made_of(bytes: usize, text: String) -> Self {
        Self { bytes: bytes.max(text.len()), text }
    }
}

/// What to read for a page of a merchant's list.
pub(super) struct PageOf {
    pub(super) tenant: Tenant,
    /// Rows after this position in the order of the list; `None` from the start.
    pub(super) before: Option<i64>,
    pub(super) rows: i64,
}

/// What to read for a page of an operator's list.
pub(super) struct PageOfAll {
    /// Records after this id in the order of the list; `None` from the start.
    pub(super) before: Option<String>,
    pub(super) rows: i64,
}

/// A record as JSON text for a list.
pub(super) fn written<T: Serialize>(record: T) -> Result<String> {
    serde_json::to_string(&record).map_err(|_| Refusal::internal())
}

/// The number of rows to read for one page.
pub(super) fn rows_wanted(request: &ListRequest) -> i64 {
    i64::from(request.limit) + 1
}

impl App {
    /// The position in the request's cursor.
    pub(super) fn position(
        &self,
        list: ListKind,
        tenant: &Tenant,
        request: &ListRequest,
    ) -> Result<Option<i64>> {
        let Some(cursor) = &request.cursor else { return Ok(None) };
        let position = self
            .cursors
            .load()
            .decode(cursor, list, Owner::Tenant(tenant), &request.filter)
            .ok()
            .and_then(|position| i64::try_from(position).ok());
        position.map(Some).ok_or_else(invalid_cursor)
    }

    /// A page of a merchant's list: the rows that `read` returns, each with its position, written by `show`.
    pub(super) async fn list<R, P, S>(
        &self,
        list: ListKind,
        tenant: &Tenant,
        request: &ListRequest,
        show: impl Fn(R) -> Result<S> + Send,
        read: impl ReadingOf<PageOf, P, Refusal>,
    ) -> Result<List>
    where
        P: Into<Page<R>> + Send + 'static,
        S: Into<Item>,
    {
        let before = self.position(list, tenant, request)?;
        let wanted = PageOf { tenant: tenant.clone(), before, rows: rows_wanted(request) };
        let found = self.read_list(async move |tx| read(tx, wanted).await).await?;
        let Page { rows, looked_to } = found.into();
        let shown = rows.into_iter().map(|(position, row)| Ok((position, show(row)?)));
        let shown = Page { rows: shown.collect::<Result<_>>()?, looked_to };
        Ok(self.page(list, tenant, request, shown).0)
    }

    /// A page of an operator's list: the records that `read` returns before an id, written by `show`, each with
    /// its own id. `prefix` is the prefix of these ids (without underscore).
    pub(super) async fn operator_list<R, P>(
        &self,
        list: ListKind,
        prefix: &str,
        request: &ListRequest,
        show: impl Fn(R) -> Result<(String, String)> + Send,
        read: impl ReadingOf<PageOfAll, P, Refusal>,
    ) -> Result<List>
    where
        P: Into<PageById<R>> + Send + 'static,
    {
        let before = self.operator_position(list, prefix, request)?;
        let wanted = PageOfAll { before, rows: rows_wanted(request) };
        let found = self.read_list(async move |tx| read(tx, wanted).await).await?;
        let PageById { rows, looked_to } = found.into();
        let rows = rows.into_iter().map(show).collect::<Result<_>>()?;
        self.operator_page(list, request, PageById { rows, looked_to })
    }

    /// The id in the cursor of an operator's list; the list continues with the next one.
    fn operator_position(
        &self,
        list: ListKind,
        prefix: &str,
        request: &ListRequest,
    ) -> Result<Option<String>> {
        let Some(cursor) = &request.cursor else { return Ok(None) };
        let uuid =
            self.cursors.load().decode_id(cursor, list, &request.filter).map_err(|_| invalid_cursor())?;
        Ok(Some(verify_core::id::encode(prefix, uuid)))
    }

    /// Cuts the page from the rows that were read for an operator's list, each with its id.
    fn operator_page(
        &self,
        list: ListKind,
        request: &ListRequest,
        found: PageById<(String, String)>,
    ) -> Result<List> {
        let (items, last, more) = cut(request, found.rows);
        // What does not fit on the page is before the end of what was looked at.
        let last = if more { last } else { found.looked_to };
        let next_cursor = match last {
            Some(id) => {
                let uuid = verify_core::id::uuid(&id).ok_or_else(Refusal::internal)?;
                Some(self.cursors.load().encode_id(list, uuid, &request.filter))
            }
            None => None,
        };
        Ok(List { items, next_cursor, resume_cursor: None })
    }

    /// Cuts the page from the rows that were read; also returns the last position that it shows or has looked at.
    pub(super) fn page(
        &self,
        list: ListKind,
        tenant: &Tenant,
        request: &ListRequest,
        found: Page<impl Into<Item>>,
    ) -> (List, Option<i64>) {
        let (items, last, more) = cut(request, found.rows);
        // What does not fit on the page is before the end of what was looked at.
        let last = if more { last } else { found.looked_to.or(last) };
        let more = more || found.looked_to.is_some();
        let next_cursor = last.filter(|_| more).map(|position| self.cursor(list, tenant, request, position));
        (List { items, next_cursor, resume_cursor: None }, last)
    }

    /// The cursor of a position in this list, under this filter.
    pub(super) fn cursor(
        &self,
        list: ListKind,
        tenant: &Tenant,
        request: &ListRequest,
        position: i64,
    ) -> String {
        let position = u64::try_from(position).unwrap_or(0);
        self.cursors.load().encode(list, position, Owner::Tenant(tenant), &request.filter)
    }
}

/// The rows that fit on a page, at least one; the position of the last; and whether there are more.
fn cut<P>(request: &ListRequest, rows: Vec<(P, impl Into<Item>)>) -> (Vec<String>, Option<P>, bool) {
    let (read, mut items, mut last, mut bytes) = (rows.len(), Vec::new(), None, 0_usize);
    for (place, item) in rows.into_iter().take(request.limit.into()) {
        let Item { text, bytes: size } = item.into();
        bytes = bytes.saturating_add(size);
        if bytes > PAGE_BYTES && !items.is_empty() {
            break;
        }
        items.push(text);
        last = Some(place);
    }
    let more = items.len() < read;
    (items, last, more)
}

fn invalid_cursor() -> Refusal {
    Refusal::new(ErrorCode::InvalidCursor, "The cursor was not given out by this list.").param("cursor")
}
