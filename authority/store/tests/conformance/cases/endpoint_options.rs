//! What an endpoint asks of its deliveries: signature profile, headers, deadline, schedule and client certificate.

use std::collections::BTreeMap;

use authority_domain::delivery::retry::RetrySchedule;
use authority_domain::endpoint::SignatureProfile;
use authority_domain::endpoint::changes::EndpointPatch;
use authority_domain::endpoint::client_certificate::ClientCertificate;
use authority_domain::{DisabledReason, Endpoint, EndpointId, Timestamp};
use authority_store::StoreError;
use authority_store::hand_off::DeliveryOptions;
use authority_store::tx::SealedOption;

use super::endpoints::{stored, update};
use super::{Counter, Database, Shop, ask, at, done, endpoint, read};

pub(crate) async fn a_signature_profile_stays_and_goes_with_every_delivery(
    shop: Shop,
    database: &dyn Database,
) {
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
    let page = read!(shop, |tx| tx.endpoints_page(&shop.tenant, &[], None, 9));
    let listed = page.into_iter().rev().map(|(_, listed)| (listed.id, listed.signature_profile));
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
    ask!(shop.store.write, [shop, id], |tx| tx.endpoint_sealed_put(&shop.tenant, &id, option, sealed))
}

async fn put_headers(shop: &Shop, id: &EndpointId, sealed: Option<&'static [u8]>) -> Result<(), StoreError> {
    put_sealed(shop, id, SealedOption::RequestHeaders, sealed).await
}

pub(crate) async fn options_come_back_and_go_with_every_delivery(shop: Shop, database: &dyn Database) {
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
    let version = next.resource_version;
    done!(shop, [id], |tx| tx.endpoint_delete(&shop.tenant, &id, version, at(400)));
    let left = "webhook_endpoints WHERE headers_sealed IS NOT NULL OR header_names <> '[]'";
    assert_eq!(database.count(left).await, 0);
    put_headers(&shop, &id, Some(&[9])).await.unwrap_err();
}

pub(crate) async fn a_client_certificate_comes_back_and_goes_with_every_delivery(
    shop: Shop,
    database: &dyn Database,
) {
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
    let version = last.resource_version;
    done!(shop, [id], |tx| tx.endpoint_delete(&shop.tenant, &id, version, at(400)));
    let left = "webhook_endpoints WHERE client_certificate_sealed IS NOT NULL \
        OR client_certificate_sha256 IS NOT NULL OR client_certificate_expires_at IS NOT NULL";
    assert_eq!(database.count(left).await, 0);
    put_sealed(&shop, &id, option, Some(&[9])).await.unwrap_err();
}
