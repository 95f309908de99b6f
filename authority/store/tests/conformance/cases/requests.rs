//! Idempotency records and keys: contract 1.2, 2.11, 2.15, 4.3.

use authority_domain::{Scope, Timestamp};
use authority_store::StoreError;
use authority_store::tx::{IdempotencyRecord, KeyScope, OperatorKeyRecord, Prefetch};

use super::fixtures::kept_answer;
use super::{
    Database, Pending, Shop, api_key, ask, at, done, hold, noon, operator_key, read, release, submit,
};

fn record(scope: &KeyScope, answer: &str, created_at: Timestamp) -> IdempotencyRecord {
    let fingerprint = [answer.len().try_into().unwrap(); 32];
    let expires_at = created_at.plus_ms(60_000);
    IdempotencyRecord { fingerprint, created_at, expires_at, ..kept_answer(scope.clone(), "k-1", answer) }
}

pub(crate) async fn an_answer_is_kept_until_it_expires(shop: Shop, database: &dyn Database) {
    let insert =
        async |record: IdempotencyRecord| ask!(shop.store.write, |tx| tx.idempotency_insert(&record));
    let get = async |scope: &KeyScope, now: Timestamp| {
        read!(shop, [scope], |tx| tx.idempotency_get(&scope, "k-1", now))
    };
    let tenant = &KeyScope::Merchant(shop.tenant.clone());
    assert_eq!(get(tenant, noon()).await, None);
    insert(record(tenant, "first", noon())).await.unwrap();
    insert(record(&KeyScope::OperatorFor(shop.tenant.clone()), "op-for", noon())).await.unwrap();
    insert(record(&KeyScope::Operator, "operator", noon())).await.unwrap();
    assert_eq!(get(tenant, at(60).plus_ms(-1)).await, Some(([5; 32], "first".to_owned())));
    assert_eq!(
        get(&KeyScope::OperatorFor(shop.tenant.clone()), at(1)).await,
        Some(([6; 32], "op-for".to_owned()))
    );
    assert_eq!(get(&KeyScope::Operator, at(1)).await, Some(([8; 32], "operator".to_owned())));
    let in_test_mode = shop.in_test_mode().tenant;
    for scope in [KeyScope::Merchant(in_test_mode.clone()), KeyScope::OperatorFor(in_test_mode)] {
        assert_eq!(get(&scope, at(1)).await, None, "{scope:?}");
    }
    insert(record(tenant, "too early", at(60).plus_ms(-1))).await.unwrap_err();
    assert_eq!(get(tenant, at(1)).await, Some(([5; 32], "first".to_owned())), "it stands");
    assert_eq!(get(tenant, at(60)).await, None, "it has expired");
    insert(record(tenant, "second", at(60))).await.unwrap();
    assert_eq!(get(tenant, at(60)).await, Some(([6; 32], "second".to_owned())));
    assert_eq!(database.count("idempotency").await, 3);
    let purge = async |now: Timestamp, limit: i64| done!(shop, |tx| tx.idempotency_purge(now, limit));
    assert_eq!(purge(at(60).plus_ms(-1), 9).await, 0, "none has expired");
    assert_eq!(purge(at(60), 1).await, 1, "a little at a time");
    assert_eq!(purge(at(60), 9).await, 1);
    assert_eq!(get(tenant, at(60)).await, Some(([6; 32], "second".to_owned())), "what lives stays");
}

pub(crate) async fn keys_come_back_as_they_were(shop: Shop, _: &dyn Database) {
    let mut key = api_key(&shop.tenant.merchant_id, 1);
    key.scopes = Scope::ALL.to_vec();
    key.expires_at = Some(at(60));
    key.last_used_at = Some(at(-60));
    done!(shop, [key], |tx| tx.api_key_insert(&key));
    let (found, merchant) = read!(shop, |tx| tx.api_key_by_hash(&[1; 32])).unwrap();
    assert_eq!(found, key);
    assert_eq!(merchant.id, shop.tenant.merchant_id);
    assert!(read!(shop, |tx| tx.api_key_by_hash(&[2; 32])).is_none());

    let operator = OperatorKeyRecord { revoked_at: Some(at(1)), ..operator_key(3) };
    done!(shop, [operator], |tx| tx.operator_key_insert(&operator));
    let found = read!(shop, |tx| tx.operator_key_by_hash(&[3; 32]));
    assert_eq!(format!("{:?}", found.unwrap()), format!("{operator:?}"));
    let merchants = read!(shop, |tx| tx.operator_key_by_hash(&[1; 32]));
    assert!(merchants.is_none(), "a merchant's key is no operator's");
}

/// Keys are looked up for all that wait together; what one of them writes, the next one finds all the same.
pub(crate) async fn a_key_is_found_by_the_job_behind_the_one_that_kept_it(
    shop: Shop,
    database: &dyn Database,
) {
    keeping(&shop, "old").await.unwrap();
    let held = hold(&shop.store).await;
    let again = keeping(&shop, "old");
    let first = keeping(&shop, "new");
    let behind = keeping(&shop, "new");
    // What the database cannot even look up is its sender's own trouble.
    let odd = keeping(&shop, "n\0ul");
    let other = keeping(&shop, "other");
    release(held).await;
    assert_eq!(again.await.unwrap(), Some("{}".to_owned()));
    assert_eq!(first.await.unwrap(), None);
    assert_eq!(behind.await.unwrap(), Some("{}".to_owned()));
    let _ = odd.await;
    assert_eq!(other.await.unwrap(), None);
    assert_eq!(database.count("idempotency WHERE key IN ('old', 'new', 'other')").await, 3);
}

/// Looks a key up, and keeps an answer under it when there is none.
fn keeping(shop: &Shop, key: &'static str) -> Pending<Result<Option<String>, StoreError>> {
    let (store, scope) = (shop.store.clone(), KeyScope::Merchant(shop.tenant.clone()));
    let ahead = Prefetch { key: Some((scope.clone(), key.to_owned())), ..shop.ahead() };
    submit(async move {
        ask!(store.write_ahead(ahead), |tx| async {
            if let Some((_, answer)) = tx.idempotency_get(&scope, key, noon()).await? {
                return Ok(Some(answer));
            }
            let record = IdempotencyRecord { expires_at: at(1), ..kept_answer(scope, key, "{}") };
            tx.idempotency_insert(&record).await?;
            Ok(None)
        })
    })
}
