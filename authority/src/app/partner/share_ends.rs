//! The last events of shares whose connection was ended (contract 4.14).
//!
//! Ending a connection ends all its shares at the same time: from then on the partner can read nothing and gets no
//! events through them. What remains is to record this in the rows and in the two streams, with one
//! `order.share_revoked` per share. The first hundred are written in the transaction that ends the connection; the
//! worker (`crate::background::share_worker`) writes the rest, a hundred at a time, so that no transaction grows with
//! the number of shares. If the worker is interrupted, the connection's record still says that it is not done.
//!
//! An order may have changed by the time its late event is written, and the partner must not see that change. A
//! late copy therefore shows the order as the partner last saw it, read from the partner's own stream.

use std::collections::BTreeMap;

use authority_domain::event::change::{SharedOrderView, Sharing};
use authority_domain::partner::connection::PartnerConnection;
use authority_domain::partner::order_view::SharedOrder;
use authority_domain::partner::share::OrderShare;
use authority_domain::tenant::MerchantContext;
use authority_domain::{Change, ErrorCode, Refusal, Result, Tenant};
use authority_store::commit::{Audience, Commit, commit_changes};
use authority_store::shards::Turns;
use serde::Deserialize;
use verify_core::catalog::EventType;

use crate::app::mutation::on_its_own;
use crate::app::{App, Work};

/// Shares whose last events are written in one transaction.
const AT_ONCE: i64 = 100;

/// Connections that are looked up at a time.
const CONNECTIONS: i64 = 20;

impl App {
    /// Runs one step of the remaining work: up to a hundred shares of each connection that was ended. Returns
    /// whether anything was done. One that fails does not stop the others.
    ///
    /// # Errors
    /// What the store reports, when nothing was done or the database is away; nothing is half done.
    pub async fn end_shares_step(&self) -> Result<bool> {
        let connections = self.read(async move |tx| tx.connections_to_end(CONNECTIONS).await).await?;
        let mut done = Ok(false);
        for connection in connections {
            let both = [Some(&connection.inviter), connection.partner()];
            let turns = Turns::each(both.into_iter().flatten().map(|side| &side.merchant.id).collect());
            let ended =
                on_its_own(self, turns, async move |work| end_shares(work, &connection, When::Later).await)
                    .await;
            match ended {
                Ok(()) => done = Ok(true),
                // The database is away, for the others too.
                Err(refusal) if refusal.code == ErrorCode::ServiceUnavailable => return Err(refusal),
                Err(refusal) if matches!(done, Ok(false)) => done = Err(refusal),
                Err(_) => {}
            }
        }
        done
    }
}

/// Whether orders may have changed since the connection was ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// In the transaction that ended it.
    Now,
    Later,
}

/// Writes the last events for the first shares of a connection that this transaction has ended.
pub(in crate::app) async fn end_shares_at_once(
    work: &mut Work<'_>,
    connection: &PartnerConnection,
) -> Result<()> {
    end_shares(work, connection, When::Now).await
}

async fn end_shares(work: &mut Work<'_>, connection: &PartnerConnection, when: When) -> Result<()> {
    let ended = work.tx.shares_to_end(&connection.id, AT_ONCE).await?;
    let all = i64::try_from(ended.len()).is_ok_and(|count| count < AT_ONCE);
    let mut of_owner: BTreeMap<Tenant, (MerchantContext, Vec<Change>)> = BTreeMap::new();
    for (share, at) in ended {
        let owner = Tenant { merchant_id: share.owner.id.clone(), livemode: share.livemode };
        let order = work.tx.order_get(&owner, &share.order_number).await?.ok_or_else(Refusal::internal)?;
        let shown = match when {
            When::Now => SharedOrderView::Present,
            When::Later => last_shown(work, &share).await?,
        };
        let context = share.owner.clone();
        let sharing = Sharing { share: share.revoked(at), order, shown };
        let change = Change::share(EventType::OrderShareRevoked, sharing);
        of_owner.entry(owner).or_insert_with(|| (context, Vec::new())).1.push(change);
    }
    for (owner, (context, changes)) in of_owner {
        let commit = Commit {
            tenant: &owner,
            merchant: &context,
            changes: &changes,
            audience: &Audience::Subscribers,
            cause: &work.cause,
            now: work.now,
        };
        commit_changes(work.tx, commit, &mut work.dice).await?;
    }
    if all {
        work.tx.connection_ended(connection).await?;
    }
    Ok(())
}

/// The members of an event that are read here.
#[derive(Deserialize)]
struct Event {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    object: SharedOrder,
}

/// The order as the partner last saw it; nothing when that event is older than the retention.
async fn last_shown(work: &mut Work<'_>, share: &OrderShare) -> Result<SharedOrderView> {
    let Some(body) = work.tx.share_last_shown(share).await? else { return Ok(SharedOrderView::Nothing) };
    let event: Event = serde_json::from_str(&body).map_err(|_| Refusal::internal())?;
    Ok(SharedOrderView::Last(Box::new(event.data.object)))
}
