//! The cost of partners with a large history: 50,000 orders of one merchant, all of them shared with one partner, and
//! as many parcels.

use authority_domain::list_filter::ShareFilter;
use authority_domain::{ConnectionId, MerchantId, OrderNumber, ShareId, Tenant};

use super::large::{Large, MANY, tenant};

const FILL: [&str; 4] = [
    "INSERT INTO merchants (id, slug, status, body, created_at, updated_at) VALUES ('par', 'par', 'active', '{}', 0, 0)",
    "INSERT INTO partner_connections (id, livemode, status, inviter_id, partner_id, invite_hash, invite_expires_at, \
         accepted_at, resource_version, created_at, updated_at) \
     VALUES ('pcn', TRUE, 'accepted', 'mer', 'par', x'00', 0, 0, 2, 0, 0)",
    "INSERT INTO order_shares (id, livemode, connection_id, owner_id, partner_id, order_number, include_customer, \
         include_amounts, status, resource_version, owner_sequence, partner_sequence, created_at, updated_at) \
     SELECT 'osh_' || sequence, TRUE, 'pcn', 'mer', 'par', 'ORD-' || sequence, FALSE, FALSE, 'active', 1, sequence, \
         sequence, 0, 0 FROM events",
    "INSERT INTO shipments (id, merchant_id, livemode, order_number, status, carrier, resource_version, \
         created_sequence, body) \
     SELECT 'shp_' || sequence, 'mer', TRUE, 'ORD-' || sequence, 'created', 'dhl', 1, sequence, '{}' FROM events",
];

fn partner() -> Tenant {
    Tenant { merchant_id: MerchantId::from_store("par".to_owned()), livemode: true }
}

#[tokio::test]
async fn who_hears_of_a_change_is_found_by_its_order() {
    let mut large = Large::with(&FILL).await;
    let orders = ["ORD-7", "ORD-40000", "ORD-none"].map(|number| OrderNumber::from_store(number.to_owned()));
    let found = large.tx.shares_of_orders(&tenant(), &orders.iter().collect::<Vec<_>>()).await.unwrap();
    assert_eq!(found.iter().map(|share| share.id.as_str()).collect::<Vec<_>>(), ["osh_40000", "osh_7"]);
    large.within(1_000);
    let connection = ConnectionId::from_store("pcn".to_owned());
    let found = large.tx.share_on_connection(&tenant(), &orders[0], &connection).await.unwrap();
    assert_eq!(found.map(|id| id.to_string()).as_deref(), Some("osh_7"));
    large.within(300);
}

#[tokio::test]
async fn a_page_of_what_is_shared_reads_only_what_it_shows() {
    let mut large = Large::with(&FILL).await;
    for before in [None, Some(MANY / 2)] {
        let filter = ShareFilter::default();
        let page = large.tx.shares_page(&tenant(), &filter, before, 101).await.unwrap().rows;
        assert_eq!(page.len(), 101);
        large.within_of(15_000, &before);
        let page = large.tx.partner_orders_page(&partner(), &filter, before, 101).await.unwrap().rows;
        assert_eq!((page.len(), page[0].1.shipments.len()), (101, 1));
        large.within_of(30_000, &before);
    }
    let seen = large.tx.partner_order(&partner(), &ShareId::from_store("osh_9".to_owned())).await.unwrap();
    assert_eq!(seen.unwrap().shipments.len(), 1);
    large.within(1_000);
}

#[tokio::test]
async fn ending_a_connection_is_one_row_and_its_shares_come_in_parts() {
    let mut large = Large::with(&FILL).await;
    let end = "UPDATE partner_connections SET status = 'revoked', revoked_at = 1, shares_to_end = TRUE";
    large.execute(end).await;
    large.within(300);
    let left = large.tx.connections_to_end(20).await.unwrap();
    assert_eq!(left.len(), 1);
    large.within(300);
    let part = large.tx.shares_to_end(&left[0].id, 100).await.unwrap();
    assert_eq!(part.len(), 100);
    large.within(15_000);
}
