//! Endpoints as records: contract 2.8, 4.10.

use std::collections::BTreeMap;

use authority_domain::delivery::retry::RetrySchedule;
use authority_domain::endpoint::changes::EndpointPatch;
use authority_domain::endpoint::client_certificate::ClientCertificate;
use authority_domain::endpoint::{DisabledReason, Endpoint, SignatureProfile};
use authority_domain::id::EndpointId;
use authority_domain::time::Timestamp;
use authority_store::StoreError;
use authority_store::ports::{DeliveryOptions, SealedOption, SealedSecret, Subscriber};

use super::fixtures::{at, endpoint};
use super::hand_off::Counter;
use super::shop::Shop;
use super::{Database, job};

pub(crate) async fn endpoints_come_back_as_they_were(database: &dyn Database) {
    let shop = Shop::open(database).await;
    let mut made = endpoint(true, &["order.*", "payment.failed"]);
    made.description = Some("Grüße".into());
    made.metadata.insert("k".into(), "v".into());
    let (store, tenant, inserted) = (&shop.store, shop.tenant.clone(), made.clone());
    let secret = SealedSecret { version: 1, sealed: vec![0, 255], expires_at: None };
    let done: Result<(), StoreError> =
        job!(store.write, tx => tx.endpoint_insert(&tenant, &inserted, &secret));
    done.unwrap();
    let (tenant, id) = (shop.tenant.clone(), made.id.clone());
    let found: Result<Option<Endpoint>, StoreError> = job!(store.read, tx => tx.endpoint_get(&tenant, &id));
    assert_eq!(found.unwrap(), Some(made.clone()));
    let tenant = shop.tenant.clone();
    let enabled: Result<Vec<_>, StoreError> = job!(store.read, tx => tx.endpoints_enabled(&tenant));
    let (endpoint_id, enabled_events) = (made.id, made.enabled_events);
    assert_eq!(
        enabled.unwrap(),
        [Subscriber { endpoint_id, enabled_events, owner: shop.tenant.clone(), reach: None }]
    );
}

pub(crate) async fn endpoints_are_listed_newest_first(database: &dyn Database) {
    let shop = Shop::open(database).await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(shop.endpoint(&["*"]).await);
        // Another tenant's do not count.
        shop.in_test_mode().endpoint(&["*"]).await;
    }
    let disabled = format!("UPDATE webhook_endpoints SET status = 'disabled' WHERE id = '{}'", ids[2]);
    database.execute(&disabled).await.unwrap();
    let page = async |status: &[&str], before, limit| -> Vec<(i64, EndpointId)> {
        let (store, tenant) = (&shop.store, shop.tenant.clone());
        let status: Vec<String> = status.iter().map(|status| (*status).to_owned()).collect();
        let page: Result<Vec<_>, StoreError> =
            job!(store.read, tx => tx.endpoints_page(&tenant, &status, before, limit));
        page.unwrap().into_iter().map(|(place, endpoint)| (place, endpoint.id)).collect()
    };
    let place = |n: usize| (i64::try_from(n).unwrap() + 1, ids[n].clone());
    assert_eq!(page(&[], None, 9).await, [place(3), place(2), place(1), place(0)]);
    assert_eq!(page(&[], None, 2).await, [place(3), place(2)]);
    assert_eq!(page(&[], Some(3), 2).await, [place(1), place(0)]);
    assert_eq!(page(&["enabled"], None, 9).await, [place(3), place(1), place(0)]);
    assert_eq!(page(&["disabled"], None, 9).await, [place(2)]);
    assert_eq!(page(&["enabled", "disabled"], Some(2), 9).await, [place(0)]);
    let (store, tenant) = (&shop.store, shop.tenant.clone());
    let count: Result<i64, StoreError> = job!(store.read, tx => tx.endpoint_count(&tenant));
    assert_eq!(count.unwrap(), 4);
}

async fn stored(shop: &Shop, id: &EndpointId) -> Option<Endpoint> {
    let (store, tenant, id) = (&shop.store, shop.tenant.clone(), id.clone());
    let found: Result<Option<Endpoint>, StoreError> = job!(store.read, tx => tx.endpoint_get(&tenant, &id));
    found.unwrap()
}

async fn update(shop: &Shop, next: &Endpoint) -> Result<(), StoreError> {
    let (store, tenant, next) = (&shop.store, shop.tenant.clone(), next.clone());
    job!(store.write, tx => tx.endpoint_update(&tenant, &next))
}

pub(crate) async fn an_endpoint_changes_version_by_version(database: &dyn Database) {
    let shop = Shop::open(database).await;
    let id = shop.endpoint(&["*"]).await;
    let first = stored(&shop, &id).await.unwrap();
    let patch = EndpointPatch {
        url: Some("https://other.example.com/".into()),
        enabled_events: Some(vec!["order.*".into()]),
        description: Some(Some("new".into())),
        metadata: Some(Some([("k".to_owned(), Some("v".to_owned()))].into())),
        max_in_flight: Some(Some(77)),
        timeout_ms: Some(Some(1000)),
        retry_schedule: Some(RetrySchedule::Long),
        ..EndpointPatch::default()
    };
    let second = first.patched(patch, at(1)).unwrap().unwrap();
    update(&shop, &second).await.unwrap();
    assert_eq!(stored(&shop, &id).await, Some(second.clone()));
    let third = second.disabled(DisabledReason::Operator, at(2)).unwrap();
    let fourth = third.rotated("…xyz".into(), 60, false, at(3)).unwrap();
    let fifth = fourth.enabled(at(4)).unwrap();
    for next in [third, fourth, fifth.clone()] {
        update(&shop, &next).await.unwrap();
        assert_eq!(stored(&shop, &id).await, Some(next));
    }
    // A version that is not the next one, another merchant, the other mode: nothing is written.
    update(&shop, &second).await.unwrap_err();
    let sixth = fifth.disabled(DisabledReason::Merchant, at(5)).unwrap();
    for stranger in [Shop::new(&shop.store, "other").await, shop.in_test_mode()] {
        update(&stranger, &sixth).await.unwrap_err();
    }
    assert_eq!(stored(&shop, &id).await, Some(fifth));
}

pub(crate) async fn a_signature_profile_stays_and_goes_with_every_delivery(database: &dyn Database) {
    let shop = Shop::open(database).await;
    // The stream begins: from then on deliveries are handed off.
    shop.open_checkout().await;
    let profiles = [SignatureProfile::Service, SignatureProfile::StandardWebhooks];
    let mut ids = Vec::new();
    for signature_profile in profiles {
        ids.push(shop.endpoint_as(Endpoint { signature_profile, ..endpoint(true, &["*"]) }).await);
    }
    for (id, profile) in ids.iter().zip(profiles) {
        let made = stored(&shop, id).await.unwrap();
        assert_eq!(made.signature_profile, profile);
        let patch = EndpointPatch { description: Some(Some("new".into())), ..EndpointPatch::default() };
        let patched = made.patched(patch, at(1)).unwrap().unwrap();
        let rotated = patched.rotated("…xyz".into(), 60, false, at(2)).unwrap();
        for next in [patched, rotated] {
            update(&shop, &next).await.unwrap();
            assert_eq!(stored(&shop, id).await, Some(next));
        }
    }
    let expected: Vec<_> = ids.iter().cloned().zip(profiles).collect();
    let (store, tenant) = (&shop.store, shop.tenant.clone());
    let page: Result<Vec<_>, StoreError> = job!(store.read, tx => tx.endpoints_page(&tenant, &[], None, 9));
    let listed = page.unwrap().into_iter().rev().map(|(_, listed)| (listed.id, listed.signature_profile));
    assert_eq!(listed.collect::<Vec<_>>(), expected);
    // Leased from the backlog.
    shop.open_checkout().await;
    let sorted = |mut sent: Vec<(EndpointId, SignatureProfile)>| {
        sent.sort_by_key(|(id, _)| ids.iter().position(|other| other == id));
        sent
    };
    let leased = shop.lease("a", at(3), 9, 9).await.into_iter();
    assert_eq!(
        sorted(leased.map(|leased| (leased.endpoint_id, leased.signature_profile)).collect()),
        expected
    );
    // Handed off as it is made.
    let counter = Counter::registered(&shop.store, 99, 9);
    shop.open_checkout().await;
    let given = counter.given().into_iter().map(|given| given.delivery);
    assert_eq!(sorted(given.map(|given| (given.endpoint_id, given.signature_profile)).collect()), expected);
    let unknown = format!("UPDATE webhook_endpoints SET signature_profile = 'other' WHERE id = '{}'", ids[0]);
    database.execute(&unknown).await.unwrap_err();
}

/// What the next event's delivery to each endpoint takes along: leased from the backlog, and handed off as it is made.
async fn options_of(shop: &Shop, token: &str, s: i64) -> [BTreeMap<EndpointId, DeliveryOptions>; 2] {
    shop.open_checkout().await;
    let leased = shop.lease(token, at(s), 99, 99).await.into_iter();
    let counter = Counter::registered(&shop.store, 99, 99);
    shop.open_checkout().await;
    let given = counter.given().into_iter().map(|given| given.delivery);
    [
        leased.map(|leased| (leased.endpoint_id, leased.options)).collect(),
        given.map(|given| (given.endpoint_id, given.options)).collect(),
    ]
}

async fn put_sealed(
    shop: &Shop,
    id: &EndpointId,
    option: SealedOption,
    sealed: Option<&'static [u8]>,
) -> Result<(), StoreError> {
    let (store, tenant, id) = (&shop.store, shop.tenant.clone(), id.clone());
    job!(store.write, tx => tx.endpoint_sealed_put(&tenant, &id, option, sealed))
}

async fn put_headers(shop: &Shop, id: &EndpointId, sealed: Option<&'static [u8]>) -> Result<(), StoreError> {
    put_sealed(shop, id, SealedOption::RequestHeaders, sealed).await
}

pub(crate) async fn options_come_back_and_go_with_every_delivery(database: &dyn Database) {
    let shop = Shop::open(database).await;
    // The stream begins: from then on deliveries are handed off.
    shop.open_checkout().await;
    let made = Endpoint {
        header_names: vec!["authorization".into(), "x-tenant".into()],
        timeout_ms: Some(30_000),
        retry_schedule: RetrySchedule::Short,
        ..endpoint(true, &["*"])
    };
    let (plain, id) = (shop.endpoint(&["*"]).await, shop.endpoint_as(made.clone()).await);
    assert_eq!(stored(&shop, &id).await, Some(Endpoint { id: id.clone(), ..made }));
    let expect = |headers_sealed: Option<&[u8]>, timeout_ms, retry_schedule| {
        let none = DeliveryOptions {
            headers_sealed: None,
            client_certificate_sealed: None,
            timeout_ms: None,
            retry_schedule: RetrySchedule::Standard,
        };
        let own = DeliveryOptions {
            headers_sealed: headers_sealed.map(<[u8]>::to_vec),
            client_certificate_sealed: None,
            timeout_ms,
            retry_schedule,
        };
        let all = BTreeMap::from([(plain.clone(), none), (id.clone(), own)]);
        [all.clone(), all]
    };
    // Without a ciphertext, with one, with another in its place, and without.
    let own = (Some(30_000), RetrySchedule::Short);
    assert_eq!(options_of(&shop, "a", 1).await, expect(None, own.0, own.1));
    for (n, sealed) in [Some(&[0, 255, 1][..]), Some(&[7]), None, Some(&[8])].into_iter().enumerate() {
        put_headers(&shop, &id, sealed).await.unwrap();
        let token = format!("b{n}");
        assert_eq!(options_of(&shop, &token, 100).await, expect(sealed, own.0, own.1), "{n}");
    }
    // A change of the record leaves the ciphertext; another merchant and the other mode change nothing.
    let now = stored(&shop, &id).await.unwrap();
    let patch = EndpointPatch {
        timeout_ms: Some(None),
        retry_schedule: Some(RetrySchedule::Long),
        ..EndpointPatch::default()
    };
    let next = now.patched(patch, at(200)).unwrap().unwrap();
    update(&shop, &next).await.unwrap();
    assert_eq!(stored(&shop, &id).await, Some(next.clone()));
    for stranger in [Shop::new(&shop.store, "other").await, shop.in_test_mode()] {
        put_headers(&stranger, &id, None).await.unwrap_err();
    }
    assert_eq!(options_of(&shop, "c", 100).await, expect(Some(&[8]), None, RetrySchedule::Long));
    for wrong in ["retry_schedule = 'never'", "timeout_ms = 999", "timeout_ms = 30001"] {
        let wrong = format!("UPDATE webhook_endpoints SET {wrong} WHERE id = '{id}'");
        database.execute(&wrong).await.unwrap_err();
    }
    // With the endpoint goes what is sealed of it.
    let (store, tenant, gone, version) =
        (&shop.store, shop.tenant.clone(), id.clone(), next.resource_version);
    let done: Result<(), StoreError> =
        job!(store.write, tx => tx.endpoint_delete(&tenant, &gone, version, at(400)));
    done.unwrap();
    let left =
        "SELECT COUNT(*) FROM webhook_endpoints WHERE headers_sealed IS NOT NULL OR header_names <> '[]'";
    assert_eq!(database.number(left).await, 0);
    put_headers(&shop, &id, Some(&[9])).await.unwrap_err();
}

pub(crate) async fn a_client_certificate_comes_back_and_goes_with_every_delivery(database: &dyn Database) {
    let shop = Shop::open(database).await;
    shop.open_checkout().await;
    let shown = |first: char, ms| ClientCertificate {
        fingerprint_sha256: format!("{first:0<64}"),
        expires_at: Timestamp::from_ms(ms),
    };
    let made = Endpoint { client_certificate: Some(shown('a', 1)), ..endpoint(true, &["*"]) };
    let id = shop.endpoint_as(made.clone()).await;
    let first = Endpoint { id: id.clone(), ..made };
    assert_eq!(stored(&shop, &id).await, Some(first.clone()));
    let option = SealedOption::ClientCertificate;
    for (n, sealed) in [Some(&[0, 255, 1][..]), Some(&[7]), None, Some(&[8])].into_iter().enumerate() {
        put_sealed(&shop, &id, option, sealed).await.unwrap();
        for options in options_of(&shop, &format!("a{n}"), 1).await {
            let options = options.get(&id).map(|options| {
                (options.client_certificate_sealed.as_deref(), options.headers_sealed.as_deref())
            });
            assert_eq!(options, Some((sealed, None)), "{n}");
        }
    }
    for stranger in [Shop::new(&shop.store, "other").await, shop.in_test_mode()] {
        put_sealed(&stranger, &id, option, None).await.unwrap_err();
    }
    // The record's part is replaced, and removed.
    let mut last = first;
    for (n, shown) in
        [Some(shown('b', 253_402_300_799_000)), None, Some(shown('c', 3))].into_iter().enumerate()
    {
        let disabled = last.disabled(DisabledReason::Operator, at(200)).or_else(|| last.enabled(at(200)));
        last = Endpoint { client_certificate: shown, ..disabled.unwrap() };
        update(&shop, &last).await.unwrap();
        assert_eq!(stored(&shop, &id).await, Some(last.clone()), "{n}");
    }
    let (store, tenant, gone, version) =
        (&shop.store, shop.tenant.clone(), id.clone(), last.resource_version);
    let done: Result<(), StoreError> =
        job!(store.write, tx => tx.endpoint_delete(&tenant, &gone, version, at(400)));
    done.unwrap();
    let left = "SELECT COUNT(*) FROM webhook_endpoints WHERE client_certificate_sealed IS NOT NULL \
        OR client_certificate_sha256 IS NOT NULL OR client_certificate_expires_at IS NOT NULL";
    assert_eq!(database.number(left).await, 0);
    put_sealed(&shop, &id, option, Some(&[9])).await.unwrap_err();
}

pub(crate) async fn a_deleted_endpoint_is_hidden_and_kept(database: &dyn Database) {
    let shop = Shop::open(database).await;
    let (id, other) = (shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await);
    shop.open_checkout().await;
    let delete = async |shop: &Shop, version: i64| -> Result<(), StoreError> {
        let (store, tenant, id) = (&shop.store, shop.tenant.clone(), id.clone());
        job!(store.write, tx => tx.endpoint_delete(&tenant, &id, version, at(9)))
    };
    delete(&shop, 2).await.unwrap_err();
    delete(&shop.in_test_mode(), 1).await.unwrap_err();
    let before = stored(&shop, &id).await.unwrap();
    delete(&shop, 1).await.unwrap();
    delete(&shop, 2).await.unwrap_err();
    assert_eq!(stored(&shop, &id).await, None);
    update(&shop, &before.disabled(DisabledReason::Operator, at(10)).unwrap()).await.unwrap_err();
    let (store, tenant) = (&shop.store, shop.tenant.clone());
    let count: Result<i64, StoreError> = job!(store.read, tx => tx.endpoint_count(&tenant));
    assert_eq!(count.unwrap(), 1);
    let tenant = shop.tenant.clone();
    let page: Result<Vec<_>, StoreError> = job!(store.read, tx => tx.endpoints_page(&tenant, &[], None, 9));
    assert_eq!(
        page.unwrap().into_iter().map(|(place, endpoint)| (place, endpoint.id)).collect::<Vec<_>>(),
        [(2, other.clone())]
    );
    let tenant = shop.tenant.clone();
    let enabled: Result<Vec<_>, StoreError> = job!(store.read, tx => tx.endpoints_enabled(&tenant));
    let owner = shop.tenant.clone();
    let left = Subscriber { endpoint_id: other, enabled_events: vec!["*".to_owned()], owner, reach: None };
    assert_eq!(enabled.unwrap(), [left]);
    // The row and its history stay, the secret does not; its place in the list is never given again.
    let kept = format!(
        "SELECT COUNT(*) FROM webhook_endpoints WHERE id = '{id}' AND deleted_at = {}",
        at(9).as_ms()
    );
    assert_eq!(database.number(&kept).await, 1);
    let secrets = format!("SELECT COUNT(*) FROM endpoint_secrets WHERE endpoint_id = '{id}'");
    assert_eq!(database.number(&secrets).await, 0);
    let deliveries = format!("SELECT COUNT(*) FROM deliveries WHERE endpoint_id = '{id}'");
    assert_eq!(database.number(&deliveries).await, 1);
    shop.endpoint(&["*"]).await;
    assert_eq!(database.number("SELECT MAX(created_sequence) FROM webhook_endpoints").await, 3);
}
