//! The audit log: contract 6.1.

use authority_domain::audit_log::AuditEntry;
use authority_domain::list_filter::AuditFilter;
use authority_domain::{AuditId, Author, KeyId, Refusal, RequestId};
use authority_store::StoreError;
use authority_store::commit::Audience;
use authority_store::tx::Written;

use super::{Database, Shop, ask, at, dice, done, noon, read};

pub(crate) async fn every_write_of_an_operator_is_kept(shop: Shop, _: &dyn Database) {
    let key = Author::Operator(KeyId::generate(noon(), &mut dice()));
    let entry = |minute: i64, author: &Author, resource: Option<&str>| AuditEntry {
        id: AuditId::generate(at(60 * minute), &mut dice()),
        created_by: author.clone(),
        request_id: RequestId::generate(noon(), &mut dice()),
        operation: "merchants.create".to_owned(),
        merchant_id: resource.map(|_| shop.tenant.merchant_id.clone()),
        livemode: resource.map(|_| false),
        resource_id: resource.map(str::to_owned),
        version_before: resource.map(|_| 1),
        version_after: resource.map(|_| 2),
        reason: resource.map(|_| "asked by phone".to_owned()),
        created_at: at(60 * minute),
    };
    let entries = [
        entry(0, &key, None),
        entry(1, &key, Some("mer_1")),
        entry(2, &Author::CommandLine, Some("mer_1")),
        entry(3, &Author::CommandLine, Some("mer_2")),
    ];
    for entry in &entries {
        done!(shop, [entry], |tx| tx.audit_insert(&entry));
    }
    let page = async |filter: AuditFilter, before: Option<&AuditEntry>, limit: i64| {
        let before = before.map(|entry| entry.id.to_string());
        read!(shop, |tx| tx.audit_page(&filter, before.as_deref(), limit))
    };
    let [first, second, third, fourth] = entries;
    let all = AuditFilter::default();
    let newest_first = [fourth.clone(), third.clone(), second.clone(), first.clone()];
    assert_eq!(page(all.clone(), None, 9).await, newest_first);
    assert_eq!(page(all.clone(), None, 2).await, newest_first[..2]);
    assert_eq!(page(all, Some(&third), 9).await, newest_first[2..]);
    let by_key = AuditFilter { author: Some(key), ..AuditFilter::default() };
    assert_eq!(page(by_key, None, 9).await, [second.clone(), first.clone()]);
    let by_command = AuditFilter { author: Some(Author::CommandLine), ..AuditFilter::default() };
    assert_eq!(page(by_command, None, 9).await, [fourth.clone(), third.clone()]);
    let of_one = AuditFilter { resource_id: Some("mer_1".to_owned()), ..AuditFilter::default() };
    assert_eq!(page(of_one, None, 9).await, [third.clone(), second.clone()]);
    let between =
        AuditFilter { created_from: Some(at(60)), created_to: Some(at(180)), ..AuditFilter::default() };
    assert_eq!(page(between, None, 9).await, [third, second]);
}

pub(crate) async fn a_commit_tells_what_it_wrote(shop: Shop, _: &dyn Database) {
    let sale = shop.sell().await;
    let (shipment, changes) = shop.parcel(&sale.order, &[], None);
    let told: Result<Vec<Written>, Refusal> = ask!(shop.store.write, [shop], |tx| async {
        shop.commit_in(tx, &changes, &Audience::Subscribers, noon()).await?;
        Ok(tx.written().to_vec())
    });
    let written = |id: &str, before: Option<i64>, after: i64| Written {
        resource_id: id.to_owned(),
        merchant_id: Some(shop.tenant.merchant_id.clone()),
        livemode: Some(true),
        before,
        after: Some(after),
    };
    let mut told = told.unwrap();
    told.sort_by(|a, b| a.resource_id.cmp(&b.resource_id));
    let (number, version) = (sale.order.order_number.as_str(), sale.order.resource_version);
    let now = told[0].after.unwrap();
    assert!(now > version, "the order changed with its parcel");
    assert_eq!(told, [written(number, Some(version), now), written(shipment.id.as_str(), None, 1)]);
    // A job of its own has written nothing yet.
    let nothing: Result<Vec<Written>, StoreError> =
        ask!(shop.store.write, |tx| async { Ok(tx.written().to_vec()) });
    assert_eq!(nothing.unwrap(), []);
}
