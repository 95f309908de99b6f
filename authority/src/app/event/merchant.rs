//! Reading the event history (contract 4.9, 8).

use authority_domain::list_filter::EventFilter;
use authority_domain::{ErrorCode, EventId, ListKind, Refusal, Result, Tenant};

use crate::app::lists::rows_wanted;
use crate::app::{Answer, App, Caller, List, ListRequest};
use authority_store::StoreError;

impl App {
    /// `GET /events/:event`: the stored bytes.
    pub async fn event_get(&self, caller: &Caller, id: EventId) -> Result<Answer> {
        let tenant = caller.tenant.clone();
        let body = self.read(async move |tx| tx.event_body(&tenant, &id).await).await?;
        Ok(Answer::new(200, body.ok_or_else(EventId::missing)?))
    }

    /// `GET /events`: oldest first, with `resume_cursor` on every page.
    ///
    /// # Errors
    /// `invalid_cursor`; `cursor_expired` when the position is older than the retained history.
    pub async fn events_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        filter: EventFilter,
    ) -> Result<List> {
        let after = self.position(ListKind::Events, &caller.tenant, request)?;
        let tenant = caller.tenant.clone();
        let wanted = rows_wanted(request);
        let filtered = filter != EventFilter::default();
        let (walked, found, range) = self
            .read_list(async move |tx| {
                // Read before the rows: a filtered page that finds no more rows has searched up to here.
                let walked = if filtered { tx.stream_range(&tenant).await?.latest } else { 0 };
                let found = tx.events_page(&tenant, &filter, after.unwrap_or(0), wanted).await?;
                // Read after the rows, so that a reader always notices when events were removed in between. If
                // the event right after the cursor is there, none was removed.
                let goes_on = found
                    .rows
                    .first()
                    .is_some_and(|(first, _)| after.is_none_or(|after| after + 1 == *first));
                let asked = !goes_on;
                let range = if asked { Some(tx.stream_range(&tenant).await?) } else { None };
                Ok::<_, StoreError>((walked, found, range))
            })
            .await?;
        let oldest = range.map_or(1, |range| range.oldest);
        if after.is_some_and(|after| after + 1 < oldest) {
            return Err(Refusal::new(
                ErrorCode::CursorExpired,
                "The cursor is older than the history that is kept.",
            )
            .with("oldest_retained_sequence", oldest));
        }
        let (mut list, last) = self.page(ListKind::Events, &caller.tenant, request, found);
        // An empty page leaves the reader's position as it is, but never before the retained history.
        let mut resume = last.unwrap_or_else(|| after.unwrap_or(0).max(oldest - 1));
        // The last page has searched the whole history, whether or not anything matched.
        if list.next_cursor.is_none() {
            resume = resume.max(walked);
        }
        list.resume_cursor = Some(self.cursor(ListKind::Events, &caller.tenant, request, resume));
        Ok(list)
    }

    /// The last sequence of a stream; 0 when it has no events.
    pub async fn stream_end(&self, tenant: &Tenant) -> Result<i64> {
        let tenant = tenant.clone();
        let range = self.read(async move |tx| tx.stream_range(&tenant).await).await?;
        Ok(range.latest)
    }

    /// Up to `limit` events after the sequence `after`, as (sequence, stored bytes): for tools with direct
    /// database access, which need no cursor.
    pub async fn events_after(&self, tenant: &Tenant, after: i64, limit: i64) -> Result<Vec<(i64, String)>> {
        let tenant = tenant.clone();
        self.read_list(async move |tx| {
            Ok(tx.events_page(&tenant, &EventFilter::default(), after, limit).await?.rows)
        })
        .await
    }
}
