//! Endpoints as records: contract 2.8, 4.10.

use authority_domain::delivery::retry::RetrySchedule;
use authority_domain::endpoint::changes::EndpointPatch;
use authority_domain::{DisabledReason, Endpoint, EndpointId, EndpointStatus};
use authority_store::StoreError;
use authority_store::hand_off::SealedSecret;

use super::{Database, Shop, ask, at, done, endpoint, read};

pub(crate) async fn endpoints_come_back_as_they_were(shop: Shop, _: &dyn Database) {
    let mut made = endpoint(true, &["order.*", "payment.failed"]);
    made.description = Some("Grüße".into());
    made.metadata.insert("k".into(), "v".into());
    let secret = SealedSecret { version: 1, sealed: vec![0, 255], expires_at: None };
    done!(shop, [made], |tx| tx.endpoint_insert(&shop.tenant, &made, &secret));
    assert_eq!(stored(&shop, &made.id).await, Some(made));
}

pub(crate) async fn endpoints_are_listed_newest_first(shop: Shop, database: &dyn Database) {
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(shop.endpoint(&["*"]).await);
        // Another tenant's do not count.
        shop.in_test_mode().endpoint(&["*"]).await;
    }
    database.set_endpoint(&ids[2], "status = 'disabled'").await;
    let page = async |status: &[EndpointStatus], before, limit| -> Vec<(i64, EndpointId)> {
        let status = status.to_vec();
        read!(shop, |tx| tx.endpoints_page(&shop.tenant, &status, before, limit))
            .into_iter()
            .map(|(place, endpoint)| (place, endpoint.id))
            .collect()
    };
    let place = |n: usize| (i64::try_from(n).unwrap() + 1, ids[n].clone());
    assert_eq!(page(&[], None, 9).await, [place(3), place(2), place(1), place(0)]);
    assert_eq!(page(&[], None, 2).await, [place(3), place(2)]);
    assert_eq!(page(&[], Some(3), 2).await, [place(1), place(0)]);
    assert_eq!(page(&[EndpointStatus::Enabled], None, 9).await, [place(3), place(1), place(0)]);
    assert_eq!(page(&[EndpointStatus::Disabled], None, 9).await, [place(2)]);
    assert_eq!(page(EndpointStatus::ALL, Some(2), 9).await, [place(0)]);
    assert_eq!(read!(shop, |tx| tx.endpoint_count(&shop.tenant)), 4);
}

pub(crate) async fn stored(shop: &Shop, id: &EndpointId) -> Option<Endpoint> {
    read!(shop, [id], |tx| tx.endpoint_get(&shop.tenant, &id))
}

pub(crate) async fn endpoint_of(shop: &Shop, id: &EndpointId) -> Endpoint {
    stored(shop, id).await.unwrap()
}

pub(crate) async fn update(shop: &Shop, next: &Endpoint) -> Result<(), StoreError> {
    ask!(shop.store.write, [shop, next], |tx| tx.endpoint_update(&shop.tenant, &next))
}

pub(crate) async fn a_clock_that_is_set_back_takes_no_endpoint_back(shop: Shop, database: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    let before = stored(&shop, &id).await.unwrap();
    let earlier = before.updated_at.plus_ms(-60_000);
    assert!(done!(shop, [id], |tx| tx.endpoint_disable(&id, DisabledReason::Gone, earlier)));
    let after = stored(&shop, &id).await.unwrap();
    assert_eq!((after.resource_version, after.updated_at), (2, before.updated_at));
    done!(shop, [id], |tx| tx.endpoint_delete(&shop.tenant, &id, 2, earlier));
    let deleted =
        format!("SELECT updated_at FROM webhook_endpoints WHERE id = '{id}' AND resource_version = 3");
    assert_eq!(database.number(&deleted).await, before.updated_at.as_ms());
}

pub(crate) async fn an_endpoint_changes_version_by_version(shop: Shop, _: &dyn Database) {
    let id = shop.endpoint(&["*"]).await;
    let first = stored(&shop, &id).await.unwrap();
    let patch = EndpointPatch {
        url: Some("https://other.example.com/".into()),
        enabled_events: Some(vec!["order.*".into()]),
        description: Some(Some("new".into())),
        metadata: Some([("k".to_owned(), Some("v".to_owned()))].into()),
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

pub(crate) async fn a_deleted_endpoint_is_hidden_and_kept(shop: Shop, database: &dyn Database) {
    let (id, other) = (shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await);
    shop.open_checkout().await;
    let delete = async |shop: &Shop, version: i64| -> Result<(), StoreError> {
        ask!(shop.store.write, [shop, id], |tx| tx.endpoint_delete(&shop.tenant, &id, version, at(9)))
    };
    delete(&shop, 2).await.unwrap_err();
    delete(&shop.in_test_mode(), 1).await.unwrap_err();
    let before = stored(&shop, &id).await.unwrap();
    delete(&shop, 1).await.unwrap();
    delete(&shop, 2).await.unwrap_err();
    assert_eq!(stored(&shop, &id).await, None);
    update(&shop, &before.disabled(DisabledReason::Operator, at(10)).unwrap()).await.unwrap_err();
    assert_eq!(read!(shop, |tx| tx.endpoint_count(&shop.tenant)), 1);
    let page = read!(shop, |tx| tx.endpoints_page(&shop.tenant, &[], None, 9));
    assert_eq!(
        page.into_iter().map(|(place, endpoint)| (place, endpoint.id)).collect::<Vec<_>>(),
        [(2, other.clone())]
    );
    let told = shop.open_checkout().await.deliveries;
    assert_eq!(told.into_iter().map(|delivery| delivery.endpoint_id).collect::<Vec<_>>(), [other]);
    // The row and its history stay, the secret does not; its place in the list is never given again.
    let kept = format!("webhook_endpoints WHERE id = '{id}' AND deleted_at = {}", at(9).as_ms());
    assert_eq!(database.count(&kept).await, 1);
    let secrets = format!("endpoint_secrets WHERE endpoint_id = '{id}'");
    assert_eq!(database.count(&secrets).await, 0);
    let deliveries = format!("deliveries WHERE endpoint_id = '{id}'");
    assert_eq!(database.count(&deliveries).await, 1);
    shop.endpoint(&["*"]).await;
    assert_eq!(database.number("SELECT MAX(created_sequence) FROM webhook_endpoints").await, 3);
}
