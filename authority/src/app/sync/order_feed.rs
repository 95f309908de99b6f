//! The feed of changed orders (contract 4.11): each order once, as it is now, at the position of its last change.
//!
//! A position in the feed is the sequence of the event of the order's last change. Sequences become visible in
//! order, so an order that changes during a read moves behind the reader's position and is seen again; nothing can
//! appear before that position. Orders are never removed, so no position is ever too old: unlike the event
//! history, this feed begins with the first order, whatever the retention of events.

use authority_domain::{ListKind, Refusal, Result};

use crate::app::lists::rows_wanted;
use crate::app::{App, Caller, List, ListRequest};
use authority_store::StoreError;

impl App {
    /// `GET /sync/orders`: oldest change first, with `resume_cursor` on every page.
    pub async fn order_feed(&self, caller: &Caller, request: &ListRequest) -> Result<List> {
        let after = self.position(ListKind::SyncOrders, &caller.tenant, request)?.unwrap_or(0);
        let (tenant, wanted) = (caller.tenant.clone(), rows_wanted(request));
        let (latest, changes) = self
            .read_list(async move |tx| {
                // Read before the rows: any later change then has a higher sequence.
                let latest = tx.stream_range(&tenant).await?.latest;
                Ok::<_, StoreError>((latest, tx.orders_changed(&tenant, after, wanted).await?))
            })
            .await?;
        let mut rows = Vec::with_capacity(changes.len());
        for change in &changes {
            rows.push((change.sequence, change.to_json().map_err(|_| Refusal::internal())?));
        }
        let (mut list, last) = self.page(ListKind::SyncOrders, &caller.tenant, request, rows.into());
        let last = last.unwrap_or(after);
        // At the end of the feed the reader has seen everything up to the end of the stream, even if the last
        // events are about other records than orders. A consumer that acknowledges this position has no lag.
        let resume = if list.next_cursor.is_some() { last } else { last.max(latest) };
        list.resume_cursor = Some(self.cursor(ListKind::SyncOrders, &caller.tenant, request, resume));
        Ok(list)
    }
}
