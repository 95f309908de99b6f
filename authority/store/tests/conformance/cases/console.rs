//! What the operator's console asks: sessions, search, the story of an order, endpoints in trouble (contract 20).

use authority_domain::order::external_references::{ExternalName, SystemName};
use authority_domain::{AttemptId, Change, DeliveryId, EventId, RecoveryId, ShipmentId, Timestamp};
use authority_store::tx::{ConsoleSession, HourFigures, MatchedName, NamedRecord, SettledAs};
use authority_store::{Store, StoreError};
use verify_core::catalog::EventType;

use super::{Database, Shop, ask, at, dice, done, noon, operator_key, read, settlement};

async fn session(store: &Store, hash: [u8; 32]) -> Option<(ConsoleSession, Option<Timestamp>)> {
    ask!(store.read, |tx| tx.console_session(&hash)).unwrap().map(|(session, key)| (session, key.revoked_at))
}

pub(crate) async fn a_session_is_there_until_it_is_ended(shop: Shop, _: &dyn Database) {
    let store = &shop.store;
    let (key, other) = (operator_key(7), [9; 32]);
    let begun = |hash, s| ConsoleSession { hash, key_id: key.id.clone(), created_at: at(s), used_at: at(s) };
    let (first, second) = (begun([1; 32], 0), begun([2; 32], 10));
    let sessions = [first.clone(), second.clone()];
    let made: Result<(), StoreError> = ask!(shop.store.write, [key], |tx| async {
        tx.operator_key_insert(&key).await?;
        for session in &sessions {
            tx.console_session_insert(session).await?;
        }
        Ok(())
    });
    made.unwrap();
    assert_eq!(session(store, first.hash).await, Some((first.clone(), None)));
    assert_eq!(session(store, other).await, None);
    // Its use moves forward only.
    for (s, used) in [(70, 70), (60, 70)] {
        let hash = first.hash;
        done!(shop, |tx| tx.console_session_used(&hash, at(s)));
        let expected = ConsoleSession { used_at: at(used), ..first.clone() };
        assert_eq!(session(store, hash).await, Some((expected, None)));
    }
    // A revoked key is told with its sessions.
    assert!(done!(shop, [key], |tx| tx.operator_key_revoke(&key.id, at(80))));
    assert_eq!(session(store, second.hash).await, Some((second.clone(), Some(at(80)))));
    assert_eq!(done!(shop, |tx| tx.console_sessions_purge(at(70), 9)), 1, "the second");
    assert_eq!(session(store, second.hash).await, None);
    let hash = first.hash;
    done!(shop, |tx| tx.console_session_end(&hash));
    assert_eq!(session(store, hash).await, None);
}

async fn named(store: &Store, name: &str) -> Vec<(MatchedName, String, Option<String>)> {
    let found = ask!(store.read, [name], |tx| tx.records_named(&name, 9));
    found.unwrap().into_iter().map(|found| (found.by, found.id, found.order_number)).collect()
}

pub(crate) async fn a_record_is_found_by_each_of_its_names(shop: Shop, _: &dyn Database) {
    let store = &shop.store;
    let sale = shop.sell().await;
    let number = sale.order.order_number.clone();
    let twin = Shop::new(store, "other").await.in_test_mode();
    twin.sell_as(|_| number.clone()).await;
    let (parcel, changes) = shop.parcel(&sale.order, &[], Some("JD0146"));
    shop.commit(changes).await.unwrap();
    let name = ExternalName { system: SystemName::parse("erp").unwrap(), id: "SO-4711".to_owned() };
    done!(shop, [number], |tx| tx.reference_put(&shop.tenant, &number, &name));
    let text = number.to_string();
    let of = |by, id: &str| (by, id.to_owned(), Some(text.clone()));
    assert_eq!(
        named(store, &text).await,
        [of(MatchedName::OrderNumber, &text), of(MatchedName::OrderNumber, &text)]
    );
    let customers = named(store, "c-77").await;
    assert_eq!(
        customers,
        [of(MatchedName::CustomerReference, &text), of(MatchedName::CustomerReference, &text)]
    );
    assert_eq!(named(store, "JD0146").await, [of(MatchedName::TrackingNumber, parcel.id.as_str())]);
    assert_eq!(named(store, "SO-4711").await, [of(MatchedName::ExternalReference, &text)]);
    assert_eq!(named(store, "jd0146").await, [], "a name is the whole name");
    let mut payment = sale.payment.clone();
    payment.processor.reference = Some("ch_1".to_owned());
    payment.resource_version += 1;
    shop.commit(vec![Change::payment(EventType::PaymentSucceeded, &payment)]).await.unwrap();
    assert_eq!(named(store, "ch_1").await, [of(MatchedName::ProcessorReference, payment.id.as_str())]);

    let of_parcel = NamedRecord::Shipment(parcel.id.clone());
    let (owner, body) = read!(shop, |tx| tx.record_find(&of_parcel)).unwrap();
    assert_eq!(owner, shop.tenant);
    assert!(body.contains("JD0146"));
    let nobodys = NamedRecord::Shipment(ShipmentId::generate(noon(), &mut dice()));
    assert_eq!(read!(shop, |tx| tx.record_find(&nobodys)), None);
    let recovery = RecoveryId::generate(noon(), &mut dice());
    assert_eq!(read!(shop, |tx| tx.endpoint_of_recovery(&recovery)), None);
}

pub(crate) async fn the_story_of_an_order_is_read_whole(shop: Shop, _: &dyn Database) {
    let endpoint = shop.endpoint(&["*"]).await;
    let sale = shop.sell().await;
    shop.open_checkout().await;
    let about = async |records: Vec<String>, before: Option<i64>, limit| {
        read!(shop, |tx| tx.events_about(&shop.tenant, &records, before, limit))
    };
    let records = vec![sale.order.order_number.to_string(), sale.payment.id.to_string()];
    let events = about(records.clone(), None, 99).await;
    let all = shop.events().await;
    let expected: Vec<String> = all
        .iter()
        .rev()
        .filter(|(_, body)| records.iter().any(|record| body.contains(&format!("\"{record}\""))))
        .map(|(_, body)| body.clone())
        .filter(|body| !body.contains("\"type\":\"checkout."))
        .collect();
    assert_eq!(events, expected);
    assert_eq!(about(records.clone(), None, 2).await, expected[..2]);
    let second = all.iter().find(|(_, body)| *body == expected[1]).map(|(sequence, _)| *sequence);
    assert_eq!(about(records, second, 9).await, expected[2..]);
    assert_eq!(about(Vec::new(), None, 9).await, Vec::<String>::new());

    let leased = shop.lease("a", noon(), 2, 9).await;
    let mut ended = settlement(&leased[0], "a", SettledAs::Failed { reason: "rejected" });
    (ended.started_at, ended.finished_at) = (at(3600), at(3601));
    let good = settlement(&leased[1], "a", SettledAs::Succeeded);
    shop.settle(vec![ended, good]).await;
    let ids: Vec<EventId> = leased.iter().map(|leased| leased.event_id.clone()).collect();
    let found = read!(shop, |tx| tx.deliveries_of_events(&shop.tenant, &ids, 9));
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|found| found.delivery.endpoint_id == endpoint && found.owner == shop.tenant));
    let deliveries: Vec<DeliveryId> = found.iter().map(|found| found.delivery.id.clone()).collect();
    let attempts = read!(shop, |tx| tx.attempts_of_deliveries(&shop.tenant, &deliveries, 9));
    assert_eq!(attempts.len(), 2);
    assert!(attempts[0].started_at >= attempts[1].started_at, "newest first");
    let attempt: AttemptId = attempts[0].id.clone();
    assert_eq!(read!(shop, |tx| tx.delivery_of_attempt(&attempt)).as_ref(), Some(&attempts[0].delivery_id));
    assert_eq!(read!(shop, |tx| tx.deliveries_of_events(&shop.tenant, &[], 9)), []);
    assert_eq!(read!(shop, |tx| tx.attempts_of_deliveries(&shop.tenant, &[], 9)), []);

    let of_endpoint = endpoint.clone();
    for (whose, events) in [(None, all.len()), (Some(of_endpoint), 0)] {
        let hours = ask!(shop.store.read, [shop], |tx| {
            tx.hours_since(whose.as_ref().map(|id| (&shop.tenant, id)), at(100))
        });
        let hour = |s, failed| HourFigures {
            since: at(s),
            events: 0,
            attempts: 1,
            failed_attempts: failed,
            failed_deliveries: failed,
        };
        let hours = hours.unwrap();
        assert_eq!(hours.last(), Some(&hour(3600, 1)));
        assert_eq!(hours.iter().map(|hour| hour.attempts).sum::<i64>(), 2);
        assert_eq!(hours.iter().map(|hour| hour.events).sum::<i64>(), i64::try_from(events).unwrap());
    }
}

pub(crate) async fn endpoints_in_trouble_are_named(shop: Shop, database: &dyn Database) {
    let (fine, bad) = (shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await);
    let troubled = async || -> Vec<_> {
        let found = ask!(shop.store.read, |tx| tx.endpoints_in_trouble(9));
        found.unwrap().into_iter().map(|found| (found.endpoint.id, found.owner)).collect()
    };
    assert_eq!(troubled().await, []);
    let set = |what: &str| format!("UPDATE webhook_endpoints SET {what} WHERE id = '{bad}'");
    database.execute(&set("first_failure_at = 1")).await.unwrap();
    assert_eq!(troubled().await, [(bad.clone(), shop.tenant.clone())]);
    let disabled = "first_failure_at = NULL, status = 'disabled', disabled_at = 1, disabled_reason = ";
    for (reason, named) in [("'merchant'", 0), ("'operator'", 1), ("'failing'", 1)] {
        database.execute(&set(&format!("{disabled}{reason}"))).await.unwrap();
        assert_eq!(troubled().await.len(), named, "{reason}, and never {fine}");
    }
}
