//! The operator's view of the events of all merchants, for support (contract 6.2).
//!
//! Newest first, because support asks what has just happened; a consumer that must not miss an event uses the
//! platform's own endpoint. Over all merchants the list is ordered by event id, within one stream by sequence.
//! Only the list of one stream can be filtered, since only there an index helps.

use authority_domain::list_filter::{AllEventsFilter, EventFilter};
use authority_domain::{ErrorCode, EventId, ListKind, Mode, Refusal, Result, Tenant};

use crate::app::{Answer, App, List, ListRequest};

impl App {
    /// `GET /events` of all merchants, or of one merchant and mode.
    pub async fn all_events_list(&self, request: &ListRequest, filter: AllEventsFilter) -> Result<List> {
        let AllEventsFilter { merchant, mode, types, created_from, created_to, resource } = filter;
        let filter = EventFilter { types, created_from, created_to, resource };
        match (merchant, mode) {
            (Some(merchant_id), Some(mode)) => {
                let tenant = Tenant { merchant_id, livemode: mode == Mode::Live };
                return self.stream_list(request, tenant, filter).await;
            }
            (None, None) if filter == EventFilter::default() => {}
            (merchant, _) => {
                let detail = "merchant and mode are given together, and the other filters with both of them.";
                let missing = if merchant.is_none() { "merchant" } else { "mode" };
                return Err(Refusal::new(ErrorCode::InvalidParameter, detail).param(missing));
            }
        }
        self.operator_list(ListKind::OperatorEvents, EventId::PREFIX, request, Ok, async move |tx, of| {
            Ok(tx.all_events_page(of.before.as_deref(), of.rows).await?)
        })
        .await
    }

    /// The events of one merchant and mode, newest first.
    pub async fn stream_list(
        &self,
        request: &ListRequest,
        tenant: Tenant,
        filter: EventFilter,
    ) -> Result<List> {
        self.list(ListKind::OperatorEvents, &tenant, request, Ok, async move |tx, of| {
            Ok(tx.stream_page_newest(&of.tenant, &filter, of.before, of.rows).await?)
        })
        .await
    }

    /// `GET /events/:id` of any merchant: the stored bytes.
    pub async fn event_find(&self, id: EventId) -> Result<Answer> {
        let found = self.read(async move |tx| tx.event_find(&id).await).await?;
        let (_, body) = found.ok_or_else(EventId::missing)?;
        Ok(Answer::new(200, body))
    }
}
