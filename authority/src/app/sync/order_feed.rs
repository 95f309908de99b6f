//! The feed of changed orders (contract 4.11): each order once, as it is now, where its last change put it.
//!
//! A place of the feed is the sequence of the event that told of the order's last change. Sequences become visible in
//! their order, so an order that changes under a reader moves behind the reader's place and is seen again; nothing can
//! appear before it. Orders are never removed, so that no place is ever too old: unlike the event history, this feed
//! begins with the first order whatever the retention of events.

use authority_domain::cursor::ListKind;
use authority_domain::refusal::Refusal;
use authority_store::StoreError;
use authority_store::ports::Tx;

use crate::app::App;
use crate::app::access::Caller;
use crate::app::lists::{List, ListRequest, rows_wanted};

impl App {
    /// `GET /sync/orders`: oldest change first, with `resume_cursor` on every page.
    ///
    /// # Errors
    /// `invalid_cursor`.
    pub async fn order_feed(&self, caller: &Caller, request: &ListRequest) -> Result<List, Refusal> {
        let after = self.position(ListKind::SyncOrders, &caller.tenant, request)?.unwrap_or(0);
        let (tenant, wanted) = (caller.tenant.clone(), rows_wanted(request));
        let (latest, changes) = self
            .store
            .read_list(move |tx: &mut dyn Tx| {
                Box::pin(async move {
                    // Before the rows: whatever changes in between then stands behind it.
                    let latest = tx.stream_range(&tenant).await?.latest;
                    Ok::<_, StoreError>((latest, tx.orders_changed(&tenant, after, wanted).await?))
                })
            })
            .await
            .map_err(Refusal::from)?;
        let mut rows = Vec::with_capacity(changes.len());
        for change in &changes {
            rows.push((change.sequence, change.to_json().map_err(|_| Refusal::internal())?));
        }
        let (mut list, last) = self.page(ListKind::SyncOrders, &caller.tenant, request, rows);
        let last = last.unwrap_or(after);
        // At the end of the feed everything up to the stream's end was seen, also where the last events told of other
        // records than orders. A consumer that acknowledges this place lags behind nothing.
        let resume = if list.next_cursor.is_some() { last } else { last.max(latest) };
        list.resume_cursor = Some(self.cursor(ListKind::SyncOrders, &caller.tenant, request, resume));
        Ok(list)
    }
}
