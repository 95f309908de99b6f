//! Pages of lists: cursors in, cursors out (contract 4.5, 8.5, 8.6).
//!
//! A list reads one row more than the page holds; only when that row exists is there a next page. Items are handed on
//! as the text that is stored. The lists of a merchant go by sequences of its stream; the operator's lists span all
//! merchants and go by the records' ids, which are in the order of their making.

use authority_domain::cursor::{ListKind, Owner};
use authority_domain::error_code::ErrorCode;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use serde::Serialize;

use super::App;

/// What a list is asked for.
#[derive(Clone, Debug)]
pub struct ListRequest {
    /// Rows per page, 1–100.
    pub limit: u16,
    /// Where to go on; `None` from the start.
    pub cursor: Option<String>,
    /// The canonical text of the filters, to which the cursor is bound.
    pub filter: String,
}

/// One page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// JSON texts.
    pub items: Vec<String>,
    /// Absent on the last page.
    pub next_cursor: Option<String>,
    /// On feeds only: the position after the last item of this page, whether or not more follow.
    pub resume_cursor: Option<String>,
}

/// Rows to be read for one page.
pub(super) fn rows_wanted(request: &ListRequest) -> i64 {
    i64::from(request.limit) + 1
}

impl App {
    /// The position that the request's cursor stands for.
    pub(super) fn position(
        &self,
        list: ListKind,
        tenant: &Tenant,
        request: &ListRequest,
    ) -> Result<Option<i64>, Refusal> {
        let Some(cursor) = &request.cursor else { return Ok(None) };
        let position = self
            .cursors
            .decode(cursor, list, Owner::Tenant(tenant), &request.filter)
            .ok()
            .and_then(|position| i64::try_from(position).ok());
        position.map(Some).ok_or_else(invalid_cursor)
    }

    /// The id that the request's cursor stands for, of records whose ids begin with `prefix` (without underscore):
    /// an operator's list goes on with the id next to it.
    pub(super) fn operator_position(
        &self,
        list: ListKind,
        prefix: &str,
        request: &ListRequest,
    ) -> Result<Option<String>, Refusal> {
        let Some(cursor) = &request.cursor else { return Ok(None) };
        let uuid = self.cursors.decode_id(cursor, list, &request.filter).map_err(|_| invalid_cursor())?;
        Ok(Some(verify_core::id::encode(prefix, uuid)))
    }

    /// Cuts the page out of the rows that were read for an operator's list, each with its id.
    pub(super) fn operator_page(
        &self,
        list: ListKind,
        request: &ListRequest,
        mut rows: Vec<(String, String)>,
    ) -> Result<List, Refusal> {
        let limit = usize::from(request.limit);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next_cursor = match rows.last() {
            Some((id, _)) if more => {
                let uuid = verify_core::id::uuid(id).ok_or_else(Refusal::internal)?;
                Some(self.cursors.encode_id(list, uuid, &request.filter))
            }
            _ => None,
        };
        let items = rows.into_iter().map(|(_, body)| body).collect();
        Ok(List { items, next_cursor, resume_cursor: None })
    }

    /// The page of records that were read for an operator's list; `id` is where a record has its own.
    pub(super) fn operator_records<T: Serialize>(
        &self,
        list: ListKind,
        request: &ListRequest,
        records: &[T],
        id: impl Fn(&T) -> &str,
    ) -> Result<List, Refusal> {
        let mut rows = Vec::with_capacity(records.len());
        for record in records {
            let text = serde_json::to_string(record).map_err(|_| Refusal::internal())?;
            rows.push((id(record).to_owned(), text));
        }
        self.operator_page(list, request, rows)
    }

    /// Cuts the page out of the rows that were read, each with its position.
    pub(super) fn page(
        &self,
        list: ListKind,
        tenant: &Tenant,
        request: &ListRequest,
        mut rows: Vec<(i64, String)>,
    ) -> List {
        let limit = usize::from(request.limit);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let last = rows.last().map(|(position, _)| *position);
        let next_cursor = last.filter(|_| more).map(|position| self.cursor(list, tenant, request, position));
        List { items: rows.into_iter().map(|(_, body)| body).collect(), next_cursor, resume_cursor: None }
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
        self.cursors.encode(list, position, Owner::Tenant(tenant), &request.filter)
    }
}

fn invalid_cursor() -> Refusal {
    Refusal::new(ErrorCode::InvalidCursor, "The cursor was not given out by this list.").param("cursor")
}
