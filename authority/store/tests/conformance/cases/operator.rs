//! What operators manage: merchants and their keys (contract 2.11, 2.16, 6.2).

use authority_domain::id::KeyId;
use authority_domain::list_filter::MerchantFilter;
use authority_domain::merchant::key_record::ApiKeyRecord;
use authority_domain::merchant::{Merchant, MerchantChange, MerchantStatus};
use authority_store::StoreError;
use authority_store::tx::Written;

use super::fixtures::{api_key, at, dice, merchant};
use super::shop::Shop;
use super::{Database, job};

pub(crate) async fn merchants_are_listed_newest_first(database: &dyn Database) {
    let store = database.open().await.unwrap();
    let mut made = Vec::new();
    for (n, slug) in ["one", "two", "three"].into_iter().enumerate() {
        let mut merchant = merchant(slug);
        let created_at = at(i64::try_from(n).unwrap());
        merchant.id = authority_domain::id::MerchantId::generate(created_at, &mut dice());
        made.push(merchant.clone());
        let inserted: Result<(), StoreError> = job!(store.write, tx => tx.merchant_insert(&merchant));
        inserted.unwrap();
    }
    let change = MerchantChange { status: Some(MerchantStatus::Suspended), ..MerchantChange::default() };
    made[1] = made[1].change(change, at(9)).unwrap();
    let suspended = made[1].clone();
    let written: Result<Vec<Written>, StoreError> = store
        .write(move |tx: &mut authority_store::tx::Tx| {
            Box::pin(async move {
                tx.merchant_update(&suspended).await?;
                Ok(tx.written().to_vec())
            })
        })
        .await;
    let told = Written {
        resource_id: made[1].id.to_string(),
        merchant_id: Some(made[1].id.clone()),
        livemode: None,
        before: Some(1),
        after: Some(2),
    };
    assert_eq!(written.unwrap(), [told]);
    let page = async |filter: MerchantFilter, before: Option<&Merchant>, limit| -> Vec<Merchant> {
        let before = before.map(|merchant| merchant.id.to_string());
        let page: Result<Vec<Merchant>, StoreError> =
            job!(store.read, tx => tx.merchants_page(&filter, before.as_deref(), limit));
        page.unwrap()
    };
    let [one, two, three] = [&made[0], &made[1], &made[2]].map(Clone::clone);
    let all = MerchantFilter::default;
    assert_eq!(page(all(), None, 9).await, [three.clone(), two.clone(), one.clone()]);
    assert_eq!(page(all(), Some(&three), 1).await, vec![two.clone()]);
    let status =
        MerchantFilter { status: vec![MerchantStatus::Suspended, MerchantStatus::Closed], slug: None };
    assert_eq!(page(status, None, 9).await, [two]);
    let slug = MerchantFilter { slug: Some("one".into()), ..all() };
    assert_eq!(page(slug, None, 9).await, vec![one.clone()]);
    let mut renamed = one;
    renamed.slug = "uno".into();
    let refused: Result<(), StoreError> = job!(store.write, tx => tx.merchant_update(&renamed));
    refused.unwrap_err();
}

pub(crate) async fn keys_are_listed_replaced_and_ended(database: &dyn Database) {
    let shop = Shop::open(database).await;
    let other = Shop::new(&shop.store, "other").await;
    let store = &shop.store;
    let insert = async |key: ApiKeyRecord| {
        let inserted: Result<(), StoreError> = job!(store.write, tx => tx.api_key_insert(&key));
        inserted.unwrap();
    };
    let mut old = api_key(&shop.tenant.merchant_id, 1);
    let mut new = api_key(&shop.tenant.merchant_id, 2);
    new.id = KeyId::generate(at(60), &mut dice());
    insert(old.clone()).await;
    insert(new.clone()).await;
    insert(api_key(&other.tenant.merchant_id, 3)).await;

    old.expires_at = Some(at(90));
    old.replaced_by = Some(new.id.clone());
    new.revoked_at = Some(at(80));
    for key in [old.clone(), new.clone()] {
        let ended: Result<(), StoreError> = job!(store.write, tx => tx.api_key_end(&key));
        ended.unwrap();
    }
    let page = async |before: Option<&KeyId>, limit| -> Vec<ApiKeyRecord> {
        let (merchant, before) = (shop.tenant.merchant_id.clone(), before.map(KeyId::to_string));
        let page: Result<Vec<ApiKeyRecord>, StoreError> =
            job!(store.read, tx => tx.api_keys_page(&merchant, before.as_deref(), limit));
        page.unwrap()
    };
    assert_eq!(page(None, 9).await, [new.clone(), old.clone()]);
    assert_eq!(page(None, 1).await, [new.clone()]);
    assert_eq!(page(Some(&new.id), 9).await, [old.clone()]);
    let absent = api_key(&shop.tenant.merchant_id, 4);
    let refused: Result<(), StoreError> = job!(store.write, tx => tx.api_key_end(&absent));
    refused.unwrap_err();

    // The last use only ever moves on, and a key that is not there harms nobody.
    for (second, expected) in [(5, 5), (3, 5), (8, 8)] {
        let used = [(old.id.clone(), at(second)), (absent_id(), at(second))];
        let noted: Result<(), StoreError> = job!(store.write, tx => tx.api_keys_used(&used));
        noted.unwrap();
        let id = old.id.clone();
        let found: Result<Option<ApiKeyRecord>, StoreError> = job!(store.read, tx => tx.api_key_get(&id));
        assert_eq!(found.unwrap().unwrap().last_used_at, Some(at(expected)));
    }
}

fn absent_id() -> KeyId {
    KeyId::generate(at(0), &mut dice())
}
