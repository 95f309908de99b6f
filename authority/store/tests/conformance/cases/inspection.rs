//! Looking at a whole database, and what is sealed in it (contract 3.11, 6.4). That each damage is found is seen on a
//! whole service (`tests/doctor.rs`).

use authority_domain::{DisabledReason, Endpoint, EndpointId, EndpointStatus, KeyId};
use authority_store::tx::{KeyScope, OperatorKeyRecord, SealedOption};
use authority_store::{Inspection, StoreError};

use super::endpoints::endpoint_of;
use super::fixtures::kept_answer;
use super::{Database, Shop, ask, at, dice, done, noon, operator_key, read};

pub(crate) async fn a_snapshot_is_one_moment(shop: Shop, database: &dyn Database) {
    shop.open_checkout().await;
    let mut inspection = Inspection::open(&database.url()).await.unwrap();
    assert_eq!(inspection.schema_found, inspection.schema_known);
    let seen: Result<_, StoreError> = ask!(inspection.snapshot, [shop], |tx| async {
        let before = tx.inspect_event_heads(&shop.tenant, 0, 100).await?.len();
        // Others go on writing; who looks sees nothing of it.
        shop.sell().await;
        let after = tx.inspect_event_heads(&shop.tenant, 0, 100).await?.len();
        Ok((before, after, tx.inspect_missing_guards().await?))
    });
    assert_eq!(seen.unwrap(), (1, 1, Vec::new()));
    let later = ask!(inspection.snapshot, [shop], |tx| tx.inspect_event_heads(&shop.tenant, 0, 100));
    assert_eq!(later.unwrap().len(), 7);
    inspection.close().await;
}

pub(crate) async fn a_schema_that_a_newer_program_made_is_noticed(shop: Shop, database: &dyn Database) {
    assert!(read!(shop, |tx| tx.schema_fits()));
    let newest = "(SELECT MAX(version) FROM _sqlx_migrations)";
    let later = format!(
        "UPDATE _sqlx_migrations SET version = version + 1, description = 'changed' WHERE version = {newest}"
    );
    database.execute(&later).await.unwrap();
    assert!(!read!(shop, |tx| tx.schema_fits()));
    let inspection = Inspection::open(&database.url()).await.unwrap();
    assert_eq!(inspection.schema_found, inspection.schema_known + 1);
    inspection.close().await;
}

pub(crate) async fn subscriptions_say_since_when(shop: Shop, database: &dyn Database) {
    let since = async || {
        let mut inspection = Inspection::open(&database.url()).await.unwrap();
        let found = ask!(inspection.snapshot, [shop], |tx| tx.inspect_subscriptions(&shop.tenant));
        inspection.close().await;
        let mut found: Vec<_> = found.unwrap().iter().map(|s| (s.since, s.enabled)).collect();
        found.sort_unstable();
        found
    };
    let first = shop.endpoint(&["*"]).await;
    assert_eq!(since().await, [(0, true)]);
    shop.sell().await;
    shop.endpoint(&["*"]).await;
    assert_eq!(since().await, [(0, true), (6, true)]);
    let change = async |change: fn(&mut Endpoint)| {
        let mut endpoint = endpoint_of(&shop, &first).await;
        endpoint.resource_version += 1;
        change(&mut endpoint);
        done!(shop, |tx| tx.endpoint_update(&shop.tenant, &endpoint));
    };
    change(|endpoint| endpoint.health.consecutive_failures = 3).await;
    assert_eq!(since().await, [(0, true), (6, true)], "nothing of the subscription changed");
    shop.open_checkout().await;
    assert!(done!(shop, [first], |tx| tx.endpoint_disable(&first, DisabledReason::Gone, noon())));
    assert_eq!(since().await, [(6, true), (7, false)]);
    shop.open_checkout().await;
    change(|endpoint| endpoint.enabled_events = vec!["order.*".to_owned()]).await;
    assert_eq!(since().await, [(6, true), (8, false)]);
    change(|endpoint| (endpoint.status, endpoint.disabled_reason) = (EndpointStatus::Enabled, None)).await;
    shop.open_checkout().await;
    done!(shop, [first], |tx| tx.endpoint_delete(&shop.tenant, &first, 5, noon()));
    assert_eq!(since().await, [(6, true), (9, false)]);
}

pub(crate) async fn what_is_sealed_is_replaced_only_as_it_was_read(shop: Shop, _: &dyn Database) {
    let ids = [shop.endpoint(&["*"]).await, shop.endpoint(&["*"]).await];
    let first = ids[0].clone().min(ids[1].clone());
    let page = read!(shop, |tx| tx.sealed_secrets(None, 1));
    let place = (page[0].0.clone(), page[0].1.version);
    assert_eq!(place, (first, 1));
    assert_eq!(read!(shop, [place], |tx| tx.sealed_secrets(Some(&place), 9)).len(), 1);
    let bare = shop.endpoint(&["*"]).await;
    assert!(!ids.contains(&bare));
    for (old, replaced) in [(vec![9], false), (vec![1, 2, 3], true), (vec![1, 2, 3], false)] {
        let done = ask!(shop.store.write, [place], |tx| tx.sealed_secret_replace(&place, &old, &[4]));
        assert_eq!(done.unwrap(), replaced);
    }

    for option in SealedOption::ALL {
        an_option_is_listed_and_replaced(&shop, &ids, option).await;
    }

    // An answer that is kept in clear may speak of anything.
    let answers = [
        ("a", r#"{"status":201,"body":null,"sealed":"AAAA"}"#),
        ("b", r#"{"status":201,"body":"{\"sealed\":\"AAAA\"}","sealed":null}"#),
        ("c", r#"{"status":201,"body":null,"sealed":"BBBB"}"#),
    ];
    for (key, answer) in answers {
        let record = kept_answer(KeyScope::Merchant(shop.tenant.clone()), key, answer);
        done!(shop, |tx| tx.idempotency_insert(&record));
    }
    let mut newest = read!(shop, |tx| tx.newest_sealed_answers(9));
    newest.sort_unstable();
    let sealed = [answers[0], answers[2]].map(|(key, answer)| (key.to_owned(), answer.to_owned()));
    assert_eq!(newest, sealed);
    assert!(read!(shop, |tx| tx.newest_sealed_answers(1)).len() <= 1);
    let (place, answer) = read!(shop, |tx| tx.sealed_answers(None, 1)).remove(0);
    assert_eq!((place.2.as_str(), answer.as_str()), ("a", answers[0].1));
    let rest = read!(shop, [place], |tx| tx.sealed_answers(Some(&place), 9));
    assert_eq!(rest.iter().map(|(place, _)| place.2.as_str()).collect::<Vec<_>>(), ["c"]);
    for (old, replaced) in [(answers[1].1, false), (answers[0].1, true), (answers[0].1, false)] {
        assert_eq!(done!(shop, [place], |tx| tx.sealed_answer_replace(&place, old, "{}")), replaced);
    }
}

/// As after a change of the key that was interrupted, with an endpoint that came later: neither the first nor the last
/// is under the old key.
pub(crate) async fn a_sample_is_under_another_key_if_anything_is(shop: Shop, _: &dyn Database) {
    const NEW: [[u8; 2]; 2] = [[1, 2], [1, 4]];
    assert_eq!(read!(shop, |tx| tx.secret_sample(&NEW)).map(|(id, _)| id), None);
    for _ in 0..5 {
        shop.endpoint(&["*"]).await;
    }
    let all = read!(shop, |tx| tx.sealed_secrets(None, 9));
    let (id, version) = (all[3].0.clone(), all[3].1.version);
    let place = (id.clone(), version);
    assert!(done!(shop, [place], |tx| tx.sealed_secret_replace(&place, &[1, 2, 3], &[1, 3, 3])));
    let sample = read!(shop, |tx| tx.secret_sample(&NEW)).unwrap();
    assert_eq!((sample.0, sample.1.sealed), (id.clone(), vec![1, 3, 3]));
    let sample = read!(shop, |tx| tx.secret_sample(&[[1, 3]])).unwrap();
    assert_eq!(sample.1.sealed, [1, 2, 3]);
    assert!(read!(shop, |tx| tx.secret_sample(&[[1, 2], [1, 3]])).is_some(), "any");

    for option in SealedOption::ALL {
        assert_eq!(read!(shop, |tx| tx.option_sample(option, &NEW)), None);
        for (owner, _) in &all[1..] {
            let sealed: &[u8] = if *owner == id { &[1, 3] } else { &[1, 4, 9] };
            done!(shop, [owner], |tx| tx.endpoint_sealed_put(&shop.tenant, &owner, option, Some(sealed)));
        }
        let sample = read!(shop, |tx| tx.option_sample(option, &NEW));
        assert_eq!(sample, Some((id.clone(), vec![1, 3])));
        assert!(read!(shop, |tx| tx.option_sample(option, &[[1, 3], [1, 4]])).is_some(), "any");
    }
}

pub(crate) async fn operator_keys_end_once(shop: Shop, _: &dyn Database) {
    let ids: Vec<KeyId> = [1_u8, 2].map(|n| KeyId::generate(at(n.into()), &mut dice())).into();
    for (n, id) in ids.iter().enumerate() {
        let record = OperatorKeyRecord { id: id.clone(), ..operator_key(u8::try_from(n).unwrap()) };
        done!(shop, |tx| tx.operator_key_insert(&record));
    }
    for revoked in [true, false] {
        assert_eq!(done!(shop, [ids], |tx| tx.operator_key_revoke(&ids[0], at(5))), revoked);
    }
    let found = read!(shop, |tx| tx.operator_keys());
    let keys: Vec<_> = found.into_iter().map(|key| (key.id, key.revoked_at)).collect();
    assert_eq!(keys, [(ids[1].clone(), None), (ids[0].clone(), Some(at(5)))], "newest first");
}

/// Both endpoints have this option, and nothing else has it.
async fn an_option_is_listed_and_replaced(shop: &Shop, ids: &[EndpointId; 2], option: SealedOption) {
    for (n, id) in ids.iter().enumerate() {
        let sealed = [u8::try_from(n).unwrap()];
        done!(shop, [id], |tx| tx.endpoint_sealed_put(&shop.tenant, &id, option, Some(&sealed)));
    }
    let page = read!(shop, |tx| tx.sealed_options(option, None, 1));
    assert_eq!(page.len(), 1);
    let (first, old) = page[0].clone();
    let rest = read!(shop, [first], |tx| tx.sealed_options(option, Some(&first), 9));
    assert_eq!(rest.len(), 1, "an endpoint without the option is left out");
    assert!(first < rest[0].0 && ids.contains(&first) && ids.contains(&rest[0].0));
    for (was, replaced) in [(vec![9], false), (old.clone(), true), (old, false)] {
        let done = done!(shop, [first], |tx| tx.sealed_option_replace(option, &first, &was, &[4, 5]));
        assert_eq!(done, replaced);
    }
    let page = read!(shop, |tx| tx.sealed_options(option, None, 9));
    assert_eq!(page, [(first, vec![4, 5]), rest[0].clone()]);
}
