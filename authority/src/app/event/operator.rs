//! The operator's view of the events of all merchants, for support (contract 6.2).
//!
//! Newest first, because support asks what has just happened; a consumer that must not miss an event uses the
//! platform's own endpoint. Over all merchants the list is ordered by event id, within one stream by sequence.
//! Only the list of one stream can be filtered, since only there an index helps.

use authority_domain::cursor::ListKind;
use authority_domain::id::EventId;
use authority_domain::list_filter::EventFilter;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;

use crate::app::lists::{List, ListRequest};
use crate::app::{Answer, App};

impl App {
    /// `GET /events` of all merchants.
    pub async fn all_events_list(&self, request: &ListRequest) -> Result<List, Refusal> {
        self.operator_list(ListKind::OperatorEvents, EventId::PREFIX, request, Ok, move |tx, of| {
            Box::pin(async move { Ok(tx.all_events_page(of.before.as_deref(), of.rows).await?) })
        })
        .await
    }

    /// `GET /events?merchant=…&mode=…`.
    pub async fn stream_list(
        &self,
        request: &ListRequest,
        tenant: Tenant,
        filter: EventFilter,
    ) -> Result<List, Refusal> {
        self.list(ListKind::OperatorEvents, &tenant, request, Ok, move |tx, of| {
            Box::pin(async move { Ok(tx.stream_page_newest(&of.tenant, &filter, of.before, of.rows).await?) })
        })
        .await
    }

    /// `GET /events/:id` of any merchant: the stored bytes.
    pub async fn event_find(&self, id: EventId) -> Result<Answer, Refusal> {
        let found = self.read(move |tx| Box::pin(async move { tx.event_find(&id).await })).await?;
        let (_, body) = found.ok_or_else(EventId::missing)?;
        Ok(Answer::new(200, body))
    }
}
