//! Figures over everything: contract 15.11.

use authority_domain::Timestamp;
use authority_store::tx::{QueueFigures, SettledAs};

use super::{Database, Shop, at, noon, read, settlement};

pub(crate) async fn what_waits_and_how_endpoints_fare_is_counted(shop: Shop, database: &dyn Database) {
    let queue = async |now| -> QueueFigures { read!(shop, |tx| tx.queue_figures(now)) };
    let states = async || -> Vec<(String, i64)> { read!(shop, |tx| tx.endpoint_states()) };
    assert_eq!(queue(noon()).await, QueueFigures::default());
    assert_eq!(states().await, []);
    shop.endpoint(&["*"]).await;
    let gone = shop.in_test_mode().endpoint(&["*"]).await;
    let (events, told) = (shop.store.events_committed(), shop.events().await.len());
    shop.sell().await;
    let made = shop.events().await.len() - told;
    assert_eq!(shop.store.events_committed() - events, u64::try_from(made).unwrap());
    let all = i64::try_from(made).unwrap();
    let before = QueueFigures::default();
    // What is made at noon is due at noon and not before.
    assert_eq!(queue(noon().plus_ms(-1)).await, QueueFigures { pending: all, ..before });
    let due = QueueFigures { pending: all, due: all, leased: 0, oldest_due_at: Some(noon()) };
    assert_eq!(queue(noon()).await, due);
    // Nobody may send before the hold of its endpoint has ended.
    let hold = async |until: Option<Timestamp>| {
        let until = until.map_or("NULL".to_owned(), |until| until.as_ms().to_string());
        database.execute(&format!("UPDATE webhook_endpoints SET held_until = {until}")).await.unwrap();
    };
    hold(Some(at(1))).await;
    assert_eq!(queue(noon()).await, QueueFigures { oldest_due_at: None, ..due });
    assert_eq!(queue(at(2)).await, QueueFigures { oldest_due_at: Some(at(1)), ..due });
    hold(None).await;
    let leased = shop.lease("a", noon(), 2, 9).await;
    assert_eq!(queue(at(1)).await, QueueFigures { leased: 2, ..due });
    // A lease that has run out holds nothing.
    assert_eq!(queue(at(61)).await, due);
    shop.settle(vec![settlement(&leased[0], "a", SettledAs::Retry { at: at(100), put_off: false })]).await;
    assert_eq!(queue(at(1)).await, QueueFigures { due: all - 1, leased: 1, ..due });
    shop.settle(vec![settlement(&leased[1], "a", SettledAs::Succeeded)]).await;
    assert_eq!(
        queue(at(1)).await,
        QueueFigures { pending: all - 1, due: all - 2, leased: 0, oldest_due_at: Some(noon()) }
    );
    database.set_endpoint(&gone, "status = 'disabled'").await;
    assert_eq!(states().await, [("disabled".to_owned(), 1), ("unknown".to_owned(), 1)]);
}

pub(crate) async fn what_nobody_sees_to_is_told(shop: Shop, database: &dyn Database) {
    let unattended = async |now| -> Option<Timestamp> { read!(shop, |tx| tx.oldest_unattended(now)) };
    assert_eq!(unattended(at(9)).await, None);
    let slow = shop.endpoint(&["checkout.created"]).await;
    shop.open_checkout().await;
    assert_eq!(unattended(noon().plus_ms(-1)).await, None, "not due");
    assert_eq!(unattended(at(9)).await, Some(noon()));
    shop.open_checkout_at(at(1)).await;
    let leased = shop.lease("a", at(2), 1, 1).await;
    assert_eq!(unattended(at(9)).await, None, "something is in flight there");
    assert_eq!(unattended(at(63)).await, Some(noon()), "whoever held it is gone");
    shop.settle(vec![settlement(&leased[0], "a", SettledAs::Succeeded)]).await;
    assert_eq!(unattended(at(9)).await, Some(at(1)));
    database.set_endpoint(&slow, "status = 'disabled'").await;
    assert_eq!(unattended(at(9)).await, None, "nothing is sent there");
}
