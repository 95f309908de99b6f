//! Connections and shares: contract 2.14, 4.14.

use authority_domain::event::change::{SharedOrderView, Sharing};
use authority_domain::list_filter::{ConnectionFilter, ShareFilter};
use authority_domain::partner::connection::{
    ConnectionDirection, ConnectionSide, ConnectionState, ConnectionStatus, INVITE_MS, PartnerConnection,
};
use authority_domain::partner::share::{OrderShare, ShareStatus, ShareTerms};
use authority_domain::{Change, ConnectionId, Order, Refusal, ShareId, Timestamp};
use authority_store::{Constraint, StoreError};
use verify_core::catalog::EventType;

use super::{Database, Shop, ask, at, dice, done, noon, read};

pub(crate) fn side(shop: &Shop, label: &str) -> ConnectionSide {
    ConnectionSide { merchant: shop.context.clone(), label: Some(label.to_owned()) }
}

/// An invitation that is stored under the hash of 32 times `code`.
async fn invite(shop: &Shop, code: u8) -> PartnerConnection {
    let id = ConnectionId::generate(noon(), &mut dice());
    let made = PartnerConnection::invite(id, shop.tenant.livemode, side(shop, "theirs"), noon());
    done!(shop, [made], |tx| tx.connection_insert(&made, &[code; 32]));
    made
}

async fn accept(shop: &Shop, invited: PartnerConnection) -> Result<PartnerConnection, StoreError> {
    let accepted = invited.accept(side(shop, "ours"), at(1)).unwrap();
    ask!(shop.store.write, [accepted], |tx| tx.connection_accept(&accepted)).map(|()| accepted)
}

/// A connection of two merchants.
pub(crate) async fn connect(inviter: &Shop, partner: &Shop, code: u8) -> PartnerConnection {
    accept(partner, invite(inviter, code).await).await.unwrap()
}

async fn get(shop: &Shop, id: &ConnectionId) -> Option<PartnerConnection> {
    read!(shop, [id], |tx| tx.connection_get(&shop.tenant, &id))
}

async fn end(shop: &Shop, connection: &PartnerConnection, now: Timestamp) {
    let ended = connection.clone().revoke(now).unwrap().unwrap();
    done!(shop, |tx| tx.connection_revoke(&ended));
}

/// A share that is not stored yet.
pub(crate) fn new_share(
    owner: &Shop,
    partner: &Shop,
    connection: &PartnerConnection,
    order: &Order,
) -> OrderShare {
    OrderShare::new(
        ShareId::generate(noon(), &mut dice()),
        connection.id.clone(),
        order.order_number.clone(),
        (owner.context.clone(), partner.context.clone()),
        ShareTerms::default(),
        owner.tenant.livemode,
        noon(),
    )
}

pub(crate) async fn share(
    owner: &Shop,
    partner: &Shop,
    connection: &PartnerConnection,
    order: &Order,
) -> Result<OrderShare, Refusal> {
    let share = new_share(owner, partner, connection, order);
    let sharing = Sharing { share: share.clone(), order: order.clone(), shown: SharedOrderView::Present };
    owner.commit(vec![Change::share(EventType::OrderShared, sharing)]).await.map(|_| share)
}

async fn shares(owner: &Shop, filter: ShareFilter) -> Vec<OrderShare> {
    let page = read!(owner, |tx| tx.shares_page(&owner.tenant, &filter, None, 100));
    page.rows.into_iter().map(|(_, share)| share).collect()
}

async fn seen(partner: &Shop) -> Vec<ShareId> {
    let filter = ShareFilter::default();
    read!(partner, |tx| tx.partner_orders_page(&partner.tenant, &filter, None, 100))
        .rows
        .into_iter()
        .map(|(_, seen)| seen.share.id)
        .collect()
}

pub(crate) async fn a_code_leads_to_its_invitation_once(acme: Shop, _: &dyn Database) {
    let other = Shop::new(&acme.store, "other").await;
    let third = Shop::new(&acme.store, "third").await;
    let invited = invite(&acme, 7).await;
    let by_code =
        async |livemode: bool, code: u8| read!(acme, |tx| tx.connection_by_invite(livemode, &[code; 32]));
    assert_eq!(by_code(true, 7).await, Some(invited.clone()));
    assert_eq!((by_code(false, 7).await, by_code(true, 8).await), (None, None));
    let accepted = accept(&other, invited.clone()).await.unwrap();
    assert_eq!(by_code(true, 7).await, Some(accepted.clone()));
    assert_eq!(get(&acme, &invited.id).await, Some(accepted.clone()));
    assert_eq!(get(&other, &invited.id).await, Some(accepted.clone()));
    assert_eq!(get(&third, &invited.id).await, None);
    assert_eq!(get(&acme.in_test_mode(), &invited.id).await, None);
    // The version that was read is not there any more.
    assert!(matches!(accept(&third, invited).await, Err(StoreError::Broken(_))));
    end(&other, &accepted, at(2)).await;
    let ended = get(&acme, &accepted.id).await.unwrap();
    assert!(
        matches!(ended.state, ConnectionState::Revoked { accepted: Some(_), at: ended_at } if ended_at == at(2))
    );
}

pub(crate) async fn two_merchants_are_connected_once(acme: Shop, _: &dyn Database) {
    let other = Shop::new(&acme.store, "other").await;
    let (one, two, back) = (invite(&acme, 1).await, invite(&acme, 2).await, invite(&other, 3).await);
    let test_mode = invite(&acme.in_test_mode(), 4).await;
    let first = accept(&other, one).await.unwrap();
    let conflict = |refused: Result<PartnerConnection, StoreError>| {
        assert!(matches!(refused, Err(StoreError::Conflict(Constraint::ConnectedPair))), "{refused:?}");
    };
    conflict(accept(&other, two.clone()).await);
    conflict(accept(&acme, back.clone()).await);
    accept(&other.in_test_mode(), test_mode).await.unwrap();
    let between = async |of: &Shop, with: &Shop| {
        read!(of, [with], |tx| tx.connection_between(&of.tenant, &with.tenant.merchant_id))
    };
    assert_eq!(between(&acme, &other).await, Some(first.id.clone()));
    assert_eq!(between(&other, &acme).await, Some(first.id.clone()));
    end(&acme, &first, at(9)).await;
    assert_eq!(between(&acme, &other).await, None);
    accept(&acme, back).await.unwrap();
    conflict(accept(&other, two).await);
}

pub(crate) async fn connections_are_listed_for_each_side(acme: Shop, _: &dyn Database) {
    let other = Shop::new(&acme.store, "other").await;
    let pending = invite(&acme, 1).await;
    let active = connect(&other, &acme, 2).await;
    let revoked = invite(&acme, 3).await;
    end(&acme, &revoked, at(3)).await;
    let listed =
        async |shop: &Shop, status: &[ConnectionStatus], direction: &[ConnectionDirection], now, before| {
            let filter = ConnectionFilter { status: status.to_vec(), direction: direction.to_vec() };
            read!(shop, |tx| tx.connections_page(&shop.tenant, &filter, now, before, 2))
                .into_iter()
                .map(|(position, found)| (position, found.id))
                .collect::<Vec<_>>()
        };
    let (one, two, three) = ((1, pending.id), (2, active.id), (3, revoked.id));
    assert_eq!(listed(&acme, &[], &[], at(4), None).await, [three.clone(), two.clone()]);
    assert_eq!(listed(&acme, &[], &[], at(4), Some(2)).await, std::slice::from_ref(&one));
    assert_eq!(listed(&other, &[], &[], at(4), None).await, [(1, two.1.clone())]);
    assert_eq!(listed(&acme.in_test_mode(), &[], &[], at(4), None).await, []);
    use ConnectionDirection::{Incoming, Outgoing};
    use ConnectionStatus::{Active, Expired, Pending, Revoked};
    assert_eq!(listed(&acme, &[Pending], &[], at(4), None).await, std::slice::from_ref(&one));
    assert_eq!(listed(&acme, &[Pending, Active], &[Outgoing], at(4), None).await, std::slice::from_ref(&one));
    assert_eq!(listed(&acme, &[], &[Incoming], at(4), None).await, [two]);
    assert_eq!(listed(&acme, &[Revoked], &[Outgoing, Incoming], at(4), None).await, [three]);
    let late = noon().plus_ms(INVITE_MS);
    assert_eq!(listed(&acme, &[Expired], &[], late, None).await, [one]);
    assert_eq!(listed(&acme, &[Pending], &[], late, None).await, []);
}

pub(crate) async fn an_order_is_shared_once_on_a_connection(acme: Shop, _: &dyn Database) {
    let other = Shop::new(&acme.store, "other").await;
    let connection = connect(&acme, &other, 1).await;
    let order = acme.sell().await.order;
    let made = share(&acme, &other, &connection, &order).await.unwrap();
    let refused = share(&acme, &other, &connection, &order).await.unwrap_err();
    assert_eq!(refused.code.as_str(), "internal_error", "the use case looks first");
    let on = async |shop: &Shop| {
        read!(shop, [order, connection], |tx| {
            tx.share_on_connection(&shop.tenant, &order.order_number, &connection.id)
        })
    };
    assert_eq!((on(&acme).await, on(&other).await), (Some(made.id.clone()), None));
    assert_eq!(shares(&acme, ShareFilter::default()).await, std::slice::from_ref(&made));
    assert_eq!(shares(&other, ShareFilter::default()).await, []);
    assert_eq!((seen(&other).await, seen(&acme).await), (vec![made.id.clone()], vec![]));
    let revoked = made.clone().revoked(at(5));
    let sharing = Sharing { share: revoked.clone(), order: order.clone(), shown: SharedOrderView::Present };
    acme.commit(vec![Change::share(EventType::OrderShareRevoked, sharing)]).await.unwrap();
    assert_eq!((on(&acme).await, seen(&other).await), (None, vec![]));
    let again = share(&acme, &other, &connection, &order).await.unwrap();
    let of = |status: &[ShareStatus]| ShareFilter { status: status.to_vec(), ..ShareFilter::default() };
    assert_eq!(shares(&acme, of(&[ShareStatus::Active])).await, std::slice::from_ref(&again));
    assert_eq!(shares(&acme, of(&[ShareStatus::Revoked])).await, std::slice::from_ref(&revoked));
    assert_eq!(shares(&acme, of(&[ShareStatus::Revoked, ShareStatus::Active])).await, [again, revoked]);
    let elsewhere = ShareFilter { order_number: Some("ORD-1".to_owned()), ..ShareFilter::default() };
    assert_eq!(shares(&acme, elsewhere).await, []);
}

/// The connection's row decides: nothing waits for the rows of its shares.
pub(crate) async fn a_connection_ends_all_its_shares_at_once(acme: Shop, database: &dyn Database) {
    let other = Shop::new(&acme.store, "other").await;
    let connection = connect(&acme, &other, 1).await;
    let mut made = Vec::new();
    for _ in 0..3 {
        let order = acme.sell().await.order;
        made.push(share(&acme, &other, &connection, &order).await.unwrap());
    }
    made.sort_by(|a, b| a.id.cmp(&b.id));
    let counted = "SELECT active_shares FROM streams WHERE active_shares > 0";
    assert_eq!(database.number(counted).await, 3);
    end(&other, &connection, at(9)).await;
    assert_eq!(seen(&other).await, []);
    let of_orders = async || {
        read!(acme, [made], |tx| async {
            let numbers: Vec<_> = made.iter().map(|share| &share.order_number).collect();
            tx.shares_of_orders(&acme.tenant, &numbers).await
        })
    };
    assert_eq!(of_orders().await, []);
    let shown = shares(&acme, ShareFilter::default()).await;
    assert!(
        shown.iter().all(|share| share.status == ShareStatus::Revoked && share.revoked_at == Some(at(9)))
    );
    let [to_end] = read!(acme, |tx| tx.connections_to_end(9)).try_into().unwrap();
    assert_eq!(Some(&to_end), get(&acme, &connection.id).await.as_ref());
    let first = read!(acme, [connection], |tx| tx.shares_to_end(&connection.id, 2));
    let expected: Vec<_> = made[..2].iter().map(|share| (share.clone(), at(9))).collect();
    assert_eq!(first, expected);
    for share in &made {
        let ended = share.clone().revoked(at(9));
        done!(acme, |tx| tx.share_revoke(&ended));
    }
    done!(acme, |tx| tx.connection_ended(&to_end));
    assert_eq!(read!(acme, |tx| tx.connections_to_end(9)), []);
    assert_eq!(database.number("SELECT MAX(active_shares) FROM streams").await, 0);
}

pub(crate) async fn partner_rows_that_break_a_rule_are_refused(acme: Shop, database: &dyn Database) {
    let other = Shop::new(&acme.store, "other").await;
    let connection = connect(&acme, &other, 1).await;
    let made = share(&acme, &other, &connection, &acme.sell().await.order).await.unwrap();
    let of = format!("WHERE id = '{}'", connection.id);
    for change in [
        "partner_id = inviter_id",
        "partner_id = NULL",
        "accepted_at = NULL",
        "status = 'revoked'",
        "status = 'expired'",
        "status = 'invited'",
        "shares_to_end = TRUE",
        "resource_version = 0",
    ] {
        let refused = database.execute(&format!("UPDATE partner_connections SET {change} {of}")).await;
        assert!(refused.is_err(), "{change}");
    }
    let of = format!("WHERE id = '{}'", made.id);
    for change in [
        "partner_id = owner_id",
        "status = 'revoked'",
        "status = 'gone'",
        "revoked_at = 1",
        "order_number = 'none'",
        "connection_id = 'none'",
    ] {
        let refused = database.execute(&format!("UPDATE order_shares SET {change} {of}")).await;
        assert!(refused.is_err(), "{change}");
    }
}
