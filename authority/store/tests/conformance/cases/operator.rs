//! What operators manage: merchants and their keys (contract 2.11, 2.16, 6.2).

use std::sync::{Arc, Mutex};

use authority_domain::list_filter::MerchantFilter;
use authority_domain::merchant::key_record::ApiKeyRecord;
use authority_domain::merchant::{MerchantChange, MerchantStatus};
use authority_domain::{KeyId, Merchant, Refusal};
use authority_store::StoreError;
use authority_store::tx::Written;

use super::{Database, Pending, Shop, api_key, ask, at, dice, done, hold, merchant, read, release, submit};

pub(crate) async fn merchants_are_listed_newest_first(shop: Shop, _: &dyn Database) {
    let store = &shop.store;
    let mut made = Vec::new();
    for (n, slug) in ["one", "two", "three"].into_iter().enumerate() {
        let mut merchant = merchant(slug);
        let created_at = at(1 + i64::try_from(n).unwrap());
        merchant.id = authority_domain::id::MerchantId::generate(created_at, &mut dice());
        made.push(merchant.clone());
        ask!(store.write, |tx| tx.merchant_insert(&merchant)).unwrap();
    }
    let change = MerchantChange { status: Some(MerchantStatus::Suspended), ..MerchantChange::default() };
    made[1] = made[1].change(change, at(9)).unwrap();
    let written: Result<Vec<Written>, StoreError> = ask!(store.write, [made], |tx| async {
        tx.merchant_update(&made[1]).await?;
        Ok(tx.written().to_vec())
    });
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
        ask!(store.read, |tx| tx.merchants_page(&filter, before.as_deref(), limit)).unwrap()
    };
    let [one, two, three] = [&made[0], &made[1], &made[2]].map(Clone::clone);
    let acme = read!(shop, |tx| tx.merchant_get(&shop.tenant.merchant_id)).unwrap();
    let all = MerchantFilter::default;
    assert_eq!(page(all(), None, 9).await, [three.clone(), two.clone(), one.clone(), acme]);
    assert_eq!(page(all(), Some(&three), 1).await, vec![two.clone()]);
    let status =
        MerchantFilter { status: vec![MerchantStatus::Suspended, MerchantStatus::Closed], slug: None };
    assert_eq!(page(status, None, 9).await, [two]);
    let slug = MerchantFilter { slug: Some("one".into()), ..all() };
    assert_eq!(page(slug, None, 9).await, vec![one.clone()]);
    let mut renamed = one;
    renamed.slug = "uno".into();
    ask!(store.write, |tx| tx.merchant_update(&renamed)).unwrap_err();
}

/// Changes the merchant, as `with` says, and then ends as `kept` says; returns the name and the most requests in flight
/// that it found before.
fn changing(
    shop: &Shop,
    with: fn(&mut Merchant),
    kept: bool,
) -> Pending<Result<(String, Option<i64>), Refusal>> {
    let (store, id) = (shop.store.clone(), shop.tenant.merchant_id.clone());
    let found = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&found);
    submit(async move {
        let ran: Result<(), Refusal> = ask!(store.write, |tx| async {
            let mut merchant = tx.merchant_get(&id).await?.ok_or_else(Refusal::internal)?;
            *seen.lock().unwrap() = Some((merchant.name.clone(), merchant.limits.max_in_flight));
            with(&mut merchant);
            merchant.resource_version += 1;
            tx.merchant_update(&merchant).await?;
            if kept { Ok(()) } else { Err(Refusal::not_found("reason")) }
        });
        assert_eq!(ran.is_ok(), kept);
        Ok(found.lock().unwrap().take().unwrap())
    })
}

pub(crate) async fn jobs_of_a_transaction_see_what_was_changed_of_a_merchant(shop: Shop, _: &dyn Database) {
    let name: fn(&mut Merchant) = |merchant| merchant.name.push('+');
    let held = hold(&shop.store).await;
    let changes = [
        changing(&shop, name, true),
        changing(&shop, name, false),
        changing(&shop, |merchant| merchant.limits.max_in_flight = Some(7), true),
        changing(&shop, name, true),
        changing(&shop, |merchant| merchant.limits.max_in_flight = Some(8), false),
        changing(&shop, name, true),
    ];
    release(held).await;
    let first = merchant("acme").name;
    let found = [(0, None), (1, None), (1, None), (1, Some(7)), (2, Some(7)), (2, Some(7))];
    for (change, (changes, most)) in changes.into_iter().zip(found) {
        assert_eq!(change.await.unwrap(), (format!("{first}{}", "+".repeat(changes)), most));
    }
    let stored = read!(shop, |tx| tx.merchant_get(&shop.tenant.merchant_id));
    assert_eq!(stored.unwrap().name, format!("{first}+++"));
}

pub(crate) async fn keys_are_listed_replaced_and_ended(shop: Shop, _: &dyn Database) {
    let other = Shop::new(&shop.store, "other").await;
    let insert = async |key: ApiKeyRecord| {
        done!(shop, |tx| tx.api_key_insert(&key));
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
        done!(shop, |tx| tx.api_key_end(&key));
    }
    let page = async |before: Option<&KeyId>, limit| -> Vec<ApiKeyRecord> {
        let before = before.map(KeyId::to_string);
        read!(shop, |tx| tx.api_keys_page(&shop.tenant.merchant_id, before.as_deref(), limit))
    };
    assert_eq!(page(None, 9).await, [new.clone(), old.clone()]);
    assert_eq!(page(None, 1).await, [new.clone()]);
    assert_eq!(page(Some(&new.id), 9).await, [old.clone()]);
    // Of one mode, and of one merchant in it.
    let mut test = api_key(&shop.tenant.merchant_id, 5);
    (test.id, test.livemode) = (KeyId::generate(at(120), &mut dice()), false);
    insert(test.clone()).await;
    assert_eq!(page(None, 9).await, [test.clone(), new.clone(), old.clone()]);
    let of_mode = async |shop: &Shop, before: Option<&KeyId>, limit| -> Vec<KeyId> {
        let before = before.map(KeyId::to_string);
        let found = read!(shop, |tx| tx.api_keys_page_of(&shop.tenant, before.as_deref(), limit));
        found.into_iter().map(|key| key.id).collect()
    };
    assert_eq!(of_mode(&shop, None, 9).await, [new.id.clone(), old.id.clone()]);
    assert_eq!(of_mode(&shop, None, 1).await, [new.id.clone()]);
    assert_eq!(of_mode(&shop, Some(&test.id), 9).await, [new.id.clone(), old.id.clone()]);
    assert_eq!(of_mode(&shop, Some(&new.id), 9).await, [old.id.clone()]);
    assert_eq!(of_mode(&shop.in_test_mode(), None, 9).await, [test.id]);
    assert!(of_mode(&other.in_test_mode(), None, 9).await.is_empty());
    let absent = api_key(&shop.tenant.merchant_id, 4);
    ask!(shop.store.write, |tx| tx.api_key_end(&absent)).unwrap_err();

    // The last use only ever moves on, and a key that is not there harms nobody.
    for (second, expected) in [(5, 5), (3, 5), (8, 8)] {
        let used = [(old.id.clone(), at(second)), (absent_id(), at(second))];
        done!(shop, |tx| tx.api_keys_used(&used));
        let found = read!(shop, [old], |tx| tx.api_key_get(&old.id));
        assert_eq!(found.unwrap().last_used_at, Some(at(expected)));
    }
}

fn absent_id() -> KeyId {
    KeyId::generate(at(0), &mut dice())
}
