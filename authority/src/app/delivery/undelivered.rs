//! The events that have not reached an endpoint, and why (contract 15.1).
//!
//! The stream is walked backwards from its end, one window at a time, and a request reads a limited number of
//! events. A page may therefore be short or empty and still have a next page: its cursor marks where the walk
//! stopped.

use authority_domain::list_filter::UndeliveredFilter;
use authority_domain::recovery::undelivered::{UndeliveredEvent, Wanted};
use authority_domain::{EndpointId, ListKind, Named, Refusal, Result, Tenant, Timestamp};
use authority_store::StoreError;
use authority_store::tx::{Stretch, Tx};
use verify_core::catalog::EventType;

use crate::app::endpoint::changes::addressed;
use crate::app::lists::rows_wanted;
use crate::app::{App, List, ListRequest};

/// Events that one statement reads.
pub(in crate::app) const WINDOW: i64 = 2_000;

/// How far one request looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// As far as the API says, 10,000 events.
    Request,
    /// For a page, whose visitor may go on: 1,000 events.
    Page,
}

impl Reach {
    /// How many windows it reads, and how many events each has.
    const fn windows(self) -> (usize, i64) {
        match self {
            Self::Request => (5, WINDOW),
            Self::Page => (1, WINDOW / 2),
        }
    }
}

/// Where a walk stopped.
struct Walked {
    found: Vec<UndeliveredEvent>,
    /// The walk continues before this sequence; `None` at the beginning of the endpoint's stream.
    next: Option<i64>,
}

impl App {
    /// `GET /webhook-endpoints/:id/undelivered`: newest first. The request's filter names the endpoint.
    pub async fn undelivered_list(
        &self,
        tenant: &Tenant,
        endpoint: Named<EndpointId>,
        request: &ListRequest,
        filter: UndeliveredFilter,
        reach: Reach,
    ) -> Result<List> {
        let before = self.position(ListKind::Undelivered, tenant, request)?;
        let of = tenant.clone();
        let wanted = rows_wanted(request);
        let Walked { mut found, next } = self
            .read_list(async move |tx| {
                let endpoint = addressed(tx, &of, endpoint).await?;
                let asked: Vec<String> = filter.types.iter().map(EventType::to_string).collect();
                let types = Wanted::of(&endpoint.enabled_events, &asked);
                let mut range = range(tx, &of, &endpoint.id, filter.since, filter.until).await?;
                range.below = before.map_or(range.below, |before| before.min(range.below));
                Ok::<_, Refusal>(walk(tx, &of, &endpoint.id, &types, range, wanted, reach).await?)
            })
            .await?;
        let limit = usize::from(request.limit);
        let more = found.len() > limit;
        found.truncate(limit);
        let next = if more { found.last().map(|last| last.sequence) } else { next };
        let next_cursor = next.map(|place| self.cursor(ListKind::Undelivered, tenant, request, place));
        let items = found
            .iter()
            .map(|event| serde_json::to_string(event).map_err(|_| Refusal::internal()))
            .collect::<Result<_, _>>()?;
        Ok(List { items, next_cursor, resume_cursor: None })
    }
}

/// The part of its stream in which an endpoint can have missed events, limited by time.
pub(in crate::app) async fn range(
    tx: &mut Tx,
    tenant: &Tenant,
    endpoint: &EndpointId,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Result<Stretch, StoreError> {
    let stream = tx.stream_range(tenant).await?;
    let mut above = tx.endpoint_begins_after(tenant, endpoint).await?.max(stream.oldest - 1);
    let mut below = stream.latest + 1;
    if let Some(since) = since {
        above = above.max(tx.sequence_at(tenant, since).await? - 1);
    }
    if let Some(until) = until {
        below = below.min(tx.sequence_at(tenant, until).await?);
    }
    Ok(Stretch { above, below })
}

async fn walk(
    tx: &mut Tx,
    tenant: &Tenant,
    endpoint: &EndpointId,
    wanted: &Wanted,
    range: Stretch,
    limit: i64,
    reach: Reach,
) -> Result<Walked, StoreError> {
    let mut found: Vec<UndeliveredEvent> = Vec::new();
    let mut below = range.below;
    let (windows, window) = reach.windows();
    for _ in 0..windows {
        if below - 1 <= range.above {
            return Ok(Walked { found, next: None });
        }
        let above = range.above.max(below - 1 - window);
        let missing = limit - i64::try_from(found.len()).unwrap_or(limit);
        found.extend(tx.undelivered_page(tenant, endpoint, wanted, Stretch { above, below }, missing).await?);
        if i64::try_from(found.len()).unwrap_or(limit) >= limit {
            break;
        }
        below = above + 1;
    }
    let next = (below - 1 > range.above).then_some(below);
    Ok(Walked { found, next })
}
