//! A connection with more shares than one transaction ends: access ends at once, the last events follow, and what
//! happened to the orders meanwhile is not shown.

use std::sync::Arc;

use futures_util::future::join_all;
use tests::partners::{connect, disconnect, seen, share};
use tests::{Authority, Database, Merchant, eventually, on_both_databases, rows, text};

on_both_databases!(a_connection_with_many_shares_ends_at_once);

/// More than two transactions' worth.
const SHARES: usize = 230;

async fn a_connection_with_many_shares_ends_at_once(database: Database) {
    let authority = Authority::on(database, &[("AUTHORITY_LOG", "warn")]).await;
    let owner = Arc::new(Merchant::create(&authority, "owner").await);
    let partner = Merchant::create(&authority, "partner").await;
    let connection = connect(&owner, &partner).await;
    let made = join_all((0..SHARES).map(async |_| {
        let order = owner.paid_order().await;
        let share = share(&owner, &order, &connection).await;
        (order, share)
    }))
    .await;
    assert_eq!(partner.events().await.len(), SHARES);

    disconnect(&owner, &connection).await;
    let page = partner.api.get("/partner-orders").await.expect(200);
    assert_eq!(rows(&page).len(), 0);
    // What happens now is nobody's business any more, whether or not the share's end was told yet.
    let (order, last) = &made[SHARES - 1];
    partner.api.get(&seen(last)).await.refused(404, "not_found");
    owner.note(order, "after the end").await;
    let revoked = eventually("every end is told", async || {
        let events = partner.events().await;
        (events.len() == 2 * SHARES).then_some(events)
    })
    .await;
    for event in &revoked[SHARES..] {
        assert_eq!(text(event, "type"), "order.share_revoked");
        assert_eq!(event["resource_version"], 2);
        assert_eq!(event["data"]["object"]["resource_version"], 2);
    }
    authority.is_sound().await;
}
