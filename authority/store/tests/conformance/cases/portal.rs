//! Links to the merchant portal and the sessions that they become (contract 20).

use authority_domain::merchant::portal_session::PortalSession;
use authority_domain::{PortalSessionId, Scope};
use authority_store::tx::FoundPortalSession;
use authority_store::{Store, StoreError};

use super::{Database, Shop, ask, at, dice, done, operator_key};

async fn found(store: &Store, hash: [u8; 32]) -> Option<FoundPortalSession> {
    ask!(store.read, |tx| tx.portal_session(&hash)).unwrap()
}

async fn open(store: &Store, link: [u8; 32], cookie: [u8; 32]) -> bool {
    ask!(store.write, |tx| tx.portal_session_open(&link, &cookie, at(5))).unwrap()
}

/// A link of the shop, and another one that ends later, both made by one operator key.
async fn two_links(shop: &Shop) -> [PortalSession; 2] {
    let key = operator_key(7);
    let link = |hash: u8, expires_s, return_url: Option<&str>| PortalSession {
        id: PortalSessionId::generate(at(i64::from(hash)), &mut dice()),
        hash: [hash; 32],
        tenant: shop.tenant.clone(),
        scopes: vec![Scope::EventsRead, Scope::WebhooksManage],
        key_id: key.id.clone(),
        return_url: return_url.map(str::to_owned),
        created_at: at(0),
        opened_at: None,
        expires_at: at(expires_s),
    };
    let links = [link(1, 60, Some("https://shop.example/settings")), link(2, 120, None)];
    let made: Result<(), StoreError> = ask!(shop.store.write, [links], |tx| async {
        tx.operator_key_insert(&key).await?;
        for session in &links {
            tx.portal_session_insert(session).await?;
        }
        Ok(())
    });
    made.unwrap();
    links
}

pub(crate) async fn a_link_is_opened_once(shop: Shop, _: &dyn Database) {
    let store = &shop.store;
    let [link, other] = two_links(&shop).await;
    let seen = found(store, link.hash).await.unwrap();
    assert_eq!((seen.session, seen.key_revoked_at), (link.clone(), None));
    assert_eq!(seen.merchant.id, shop.tenant.merchant_id);
    assert_eq!(found(store, [9; 32]).await, None);
    let cookie = [3; 32];
    let (first, second) =
        futures_util::future::join(open(store, link.hash, cookie), open(store, link.hash, [4; 32])).await;
    assert!(first != second, "one of two gets in: {first} {second}");
    let cookie = if first { cookie } else { [4; 32] };
    assert!(!open(store, link.hash, [5; 32]).await);
    assert!(!open(store, cookie, [5; 32]).await, "a session is no link");
    assert_eq!(found(store, link.hash).await, None);
    let session = found(store, cookie).await.unwrap().session;
    assert_eq!(session, PortalSession { hash: cookie, opened_at: Some(at(5)), ..link });
    assert_eq!(found(store, other.hash).await.unwrap().session, other);
}

pub(crate) async fn a_portal_session_goes_with_its_time_and_tells_of_its_key(shop: Shop, _: &dyn Database) {
    let store = &shop.store;
    let [short, long] = two_links(&shop).await;
    assert!(done!(shop, [short], |tx| tx.operator_key_revoke(&short.key_id, at(30))));
    assert_eq!(found(store, short.hash).await.unwrap().key_revoked_at, Some(at(30)));
    for (s, removed) in [(60, 0), (61, 1), (61, 0)] {
        assert_eq!(done!(shop, |tx| tx.portal_sessions_purge(at(s), 9)), removed, "{s}");
    }
    assert_eq!(found(store, short.hash).await, None);
    done!(shop, [long], |tx| tx.portal_session_end(&long.id));
    assert_eq!(found(store, long.hash).await, None);
}
