//! Signing secrets through their rotations: contract 4.10.

use authority_domain::EndpointId;
use authority_store::StoreError;
use authority_store::hand_off::SealedSecret;

use super::{Database, Shop, ask, at, done, noon};

async fn rotate(shop: &Shop, id: &EndpointId, until: i64, now: i64) -> Result<i64, StoreError> {
    ask!(shop.store.write, [shop, id], |tx| async {
        let version = tx.secret_version(&shop.tenant, &id).await? + 1;
        let newest = SealedSecret { version, sealed: vec![9], expires_at: None };
        tx.secret_rotate(&shop.tenant, &id, &newest, at(until), at(now)).await?;
        Ok(version)
    })
}

/// The versions that sign an attempt at `s`, as a lease hands them out.
async fn signing(shop: &Shop, token: &str, s: i64) -> Vec<(i64, Option<i64>)> {
    shop.open_checkout().await;
    let leased = shop.lease(token, at(s), 1, 99).await;
    let secrets = leased[0].secrets.iter();
    secrets
        .map(|secret| (secret.version, secret.expires_at.map(|at| (at.as_ms() - noon().as_ms()) / 1000)))
        .collect()
}

pub(crate) async fn two_secrets_sign_while_the_overlap_is_open(shop: Shop, database: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    assert_eq!(signing(&shop, "a", 0).await, [(1, None)]);
    assert_eq!(rotate(&shop, &id, 100, 10).await.unwrap(), 2);
    assert_eq!(signing(&shop, "b", 99).await, [(2, None), (1, Some(100))]);
    assert_eq!(signing(&shop, "c", 100).await, [(2, None)]);
    // A forced rotation drops the older one; the present one becomes the older.
    assert_eq!(rotate(&shop, &id, 200, 50).await.unwrap(), 3);
    assert_eq!(signing(&shop, "d", 101).await, [(3, None), (2, Some(200))]);
    // Without an overlap the older one is gone at once.
    assert_eq!(rotate(&shop, &id, 110, 110).await.unwrap(), 4);
    assert_eq!(signing(&shop, "e", 110).await, [(4, None)]);
    assert_eq!(database.count("endpoint_secrets").await, 1);
    rotate(&shop.in_test_mode(), &id, 300, 120).await.unwrap_err();
}

pub(crate) async fn old_secrets_are_removed(shop: Shop, database: &dyn Database) {
    let (retired, expired, open) =
        (shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await);
    for (id, until) in [(&retired, 100), (&expired, 100), (&open, 200)] {
        rotate(&shop, id, until, 10).await.unwrap();
        database.set_endpoint(id, &format!("previous_secret_expires_at = {}", at(until).as_ms())).await;
    }
    let versions = async |id: &EndpointId| {
        let sql =
            format!("SELECT CAST(SUM(version) AS BIGINT) FROM endpoint_secrets WHERE endpoint_id = '{id}'");
        database.number(&sql).await
    };
    let retire = async |shop: &Shop| {
        done!(shop, [retired], |tx| tx.secret_retire(&shop.tenant, &retired));
    };
    retire(&shop.in_test_mode()).await;
    assert_eq!(versions(&retired).await, 1 + 2, "another tenant retires nothing");
    retire(&shop).await;
    assert_eq!(versions(&retired).await, 2);
    let expire = async |s: i64| -> Vec<EndpointId> { done!(shop, |tx| tx.secrets_expire(at(s), 9)) };
    assert_eq!(expire(99).await, []);
    assert_eq!(expire(100).await, std::slice::from_ref(&expired));
    assert_eq!(expire(100).await, []);
    assert_eq!((versions(&expired).await, versions(&open).await), (2, 1 + 2));
    let overlaps = "webhook_endpoints WHERE previous_secret_expires_at IS NOT NULL";
    assert_eq!(
        database.count(overlaps).await,
        2,
        "the open one, and the one whose endpoint a use case writes"
    );
}
