//! Marks of change: what makes them different, and what does not (contract 20).

use authority_domain::AlertCode;
use authority_store::tx::{SettledAs, Stretch};

use super::recoveries::begin;
use super::{Database, Shop, alert, at, done, noon, read, settlement};

async fn of(shop: &Shop) -> String {
    read!(shop, |tx| tx.tenant_mark(&shop.tenant))
}

async fn of_all(shop: &Shop) -> String {
    read!(shop, |tx| tx.platform_mark())
}

pub(crate) async fn a_tenants_mark_changes_with_what_is_its_own(shop: Shop, database: &dyn Database) {
    let (other, test) = (Shop::new(&shop.store, "other").await, shop.in_test_mode());
    let elsewhere = [of(&other).await, of(&test).await];
    let mut seen = vec![of(&shop).await];
    let note = async |seen: &mut Vec<String>| seen.push(of(&shop).await);
    let endpoint = shop.endpoint(&["*"]).await;
    note(&mut seen).await;
    for _ in 0..2 {
        shop.open_checkout().await;
        note(&mut seen).await;
    }
    let leased = shop.lease("a", noon(), 9, 9).await;
    // Two outcomes in the same five minutes, and one of attempts that began before them.
    shop.settle(vec![settlement(&leased[0], "a", SettledAs::Succeeded)]).await;
    note(&mut seen).await;
    let mut early = settlement(&leased[1], "a", SettledAs::Failed { reason: "rejected" });
    early.started_at = at(-300);
    shop.settle(vec![early]).await;
    note(&mut seen).await;
    let begun = begin(&shop, &endpoint, Stretch { above: 0, below: 3 }).await;
    note(&mut seen).await;
    assert!(done!(shop, [begun], |tx| tx.recovery_counted(&begun, 1, 1, at(150))));
    note(&mut seen).await;
    for change in ["status = 'disabled'", "resource_version = 2", "held_until = 7", "deleted_at = 8"] {
        database.set_endpoint(&endpoint, change).await;
        note(&mut seen).await;
    }
    assert_eq!(of(&shop).await, *seen.last().unwrap(), "reading changes nothing");
    seen.dedup();
    assert_eq!(seen.len(), 12, "{seen:?}");
    assert_eq!([of(&other).await, of(&test).await], elsewhere, "nor what others do");
}

pub(crate) async fn the_platforms_mark_changes_with_everybodys_work(shop: Shop, database: &dyn Database) {
    let other = Shop::new(&shop.store, "other").await;
    let mut seen = vec![of_all(&shop).await];
    let note = async |seen: &mut Vec<String>| seen.push(of_all(&shop).await);
    shop.endpoint(&["*"]).await;
    shop.open_checkout().await;
    note(&mut seen).await;
    other.open_checkout().await;
    note(&mut seen).await;
    let leased = shop.lease("a", noon(), 9, 9).await;
    shop.settle(vec![settlement(&leased[0], "a", SettledAs::Succeeded)]).await;
    note(&mut seen).await;
    let alert = alert(AlertCode::EndpointFailing, "we_x", 1);
    for _ in 0..2 {
        done!(shop, [alert], |tx| tx.alert_raise(None, &alert, at(1)));
        note(&mut seen).await;
    }
    done!(shop, |tx| tx.alert_close(None, AlertCode::EndpointFailing, "we_x", at(2)));
    note(&mut seen).await;
    let audit = "INSERT INTO audit_log (shard, id, at, key_id, request_id, operation) \
         SELECT MIN(shard), 'aud_1', 1, 'k', 'r', 'o' FROM alerts";
    assert_eq!(database.execute(audit).await, Ok(1));
    note(&mut seen).await;
    assert_eq!(of_all(&shop).await, *seen.last().unwrap(), "reading changes nothing");
    seen.dedup();
    assert_eq!(seen.len(), 8, "{seen:?}");
}
