//! The key-encryption key is changed while the service runs (contract 1.2, 6.4): nothing stops working, nothing is left
//! under the old key, and being killed half way does no harm.

use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};
use tests::damage::execute;
use tests::{Database, KEK, Merchant, Receiver, has, on_both_databases, text};

on_both_databases!(
    a_key_encryption_key_is_changed_while_the_service_runs,
    a_key_that_one_secret_needs_is_not_done_without,
    a_key_that_an_answer_needs_is_not_done_without,
);

const NEW_KEK: &str = "bmV3LWtleS1lbmNyeXB0aW9uLWtleS0zMi1ieXRlcyE=";
const KEYS: usize = 150;

fn keys_check(said: &Value) -> (String, String) {
    let check = said["checks"].as_array().unwrap().iter().find(|check| check["name"] == "keys").unwrap();
    (text(check, "status"), text(check, "detail"))
}

/// The columns with what is sealed of an endpoint beside its secrets, and what they hold.
const OPTIONS: [(&str, &str); 2] =
    [("headers_sealed", "headers"), ("client_certificate_sealed", "client certificates")];

async fn a_key_encryption_key_is_changed_while_the_service_runs(database: Database) {
    let (mut authority, merchant) = Merchant::on(database, "rewrapped").await;
    let receiver = Receiver::accepting().await;
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![]).unwrap().self_signed(&key).unwrap().pem();
    let body = json!({ "url": receiver.url("/hook"), "headers": { "authorization": "Bearer kept" },
        "client_certificate": { "certificate": certificate, "private_key": key.serialize_pem() } });
    let endpoint = merchant.endpoint_with(body).await;
    let path = format!("/merchants/{}/api-keys", merchant.id);
    let body = json!({ "name": "k", "mode": "test", "scopes": ["events:read"] });
    let mut issued = Vec::new();
    for n in 0..KEYS {
        issued.push(merchant.operator.post_as(&format!("k{n}"), &path, &body).await.expect(201));
    }
    // The keys' answers, the endpoint's signing secret, its headers and its client certificate.
    let sealed = KEYS as u64 + 3;

    let missing = authority.run(&["secrets", "rewrap"]).await;
    assert_eq!(missing.status.code(), Some(2));
    assert!(
        missing.stderr.starts_with(b"authority: AUTHORITY_SECRET_KEK_PREVIOUS is not set: "),
        "{missing:?}"
    );

    authority.terminate().await;
    authority.set("AUTHORITY_SECRET_KEK", NEW_KEK);
    // Without the old key nothing opens, and the doctor says so before `serve` refuses to start.
    let said = authority.doctor().await;
    assert_eq!(
        keys_check(&said),
        (
            "failed".to_owned(),
            format!("{sealed} of {sealed} sealed values do not open with the configured keys")
        )
    );
    assert_eq!(authority.run(&["serve"]).await.status.code(), Some(2));

    let url = authority.database_url().to_owned();
    for column in OPTIONS.map(|(column, _)| column) {
        let kept = format!(
            "CREATE TABLE kept_{column} AS SELECT {column} AS old, {column} AS new FROM webhook_endpoints"
        );
        execute(&url, &kept).await;
    }

    authority.set("AUTHORITY_SECRET_KEK_PREVIOUS", KEK);
    authority.restart().await;
    assert_eq!(keys_check(&authority.doctor().await).0, "warning");
    merchant.paid_order().await;
    receiver.until("six events", |arrivals| arrivals.accepted("/hook") == 6).await;
    for _ in 0..4 {
        let mut killed = authority.begin(&["secrets", "rewrap", "--json"]);
        // Wherever this falls, what follows must hold.
        let _ = tokio::time::timeout(Duration::from_millis(40), killed.wait()).await;
        killed.kill().await.unwrap();
    }
    let done = authority.tells(&["secrets", "rewrap"]).await;
    has(&done, json!({ "current": sealed, "previous": 0, "unopened": 0 }));
    let again = authority.tells(&["secrets", "rewrap"]).await;
    assert_eq!((&again["rewrapped"], &again["current"]), (&json!(0), &json!(sealed)));

    authority.terminate().await;
    authority.unset("AUTHORITY_SECRET_KEK_PREVIOUS");
    // Had one of the options been left under the old key, nobody could do without it.
    for (column, what) in OPTIONS {
        let all = format!("UPDATE webhook_endpoints SET {column}");
        execute(&url, &format!("UPDATE kept_{column} SET new = (SELECT {column} FROM webhook_endpoints)"))
            .await;
        execute(&url, &format!("{all} = (SELECT old FROM kept_{column})")).await;
        let refused = authority.run(&["serve"]).await;
        assert_eq!(refused.status.code(), Some(2));
        let said = format!("does not open the {what} of endpoints");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(&said), "{refused:?}");
        execute(&url, &format!("{all} = (SELECT new FROM kept_{column})")).await;
        execute(&url, &format!("DROP TABLE kept_{column}")).await;
    }
    authority.restart().await;
    authority.is_sound().await;
    for (n, told) in issued.iter().enumerate() {
        let repeated = merchant.operator.post_as(&format!("k{n}"), &path, &body).await;
        assert_eq!(repeated.header("idempotent-replayed"), Some("true"));
        assert_eq!(&repeated.expect(201), told);
    }
    merchant.paid_order().await;
    let arrivals = receiver.until("twelve events", |arrivals| arrivals.accepted("/hook") == 12).await;
    assert!(arrivals.all.iter().all(|arrival| arrival.verify(&endpoint.secret).is_ok()));
    assert!(arrivals.all.iter().all(|arrival| arrival.header("authorization") == "Bearer kept"));
}

/// A change of the key that was interrupted: secrets before the place are under the new key, and so are those of
/// endpoints that were made since.
async fn a_key_that_one_secret_needs_is_not_done_without(database: Database) {
    let (mut authority, merchant) = Merchant::on(database, "interrupted").await;
    let mut ids = Vec::new();
    for url in ["http://127.0.0.1:9/a", "http://127.0.0.1:9/b", "http://127.0.0.1:9/c"] {
        ids.push(merchant.endpoint(url, &["*"]).await.id);
    }
    ids.sort();
    let (url, middle) = (authority.database_url().to_owned(), ids[1].clone());
    let its = format!("endpoint_secrets WHERE endpoint_id = '{middle}'");
    execute(&url, &format!("CREATE TABLE kept AS SELECT sealed FROM {its}")).await;
    authority.terminate().await;
    authority.set("AUTHORITY_SECRET_KEK", NEW_KEK);
    authority.set("AUTHORITY_SECRET_KEK_PREVIOUS", KEK);
    let done = authority.tells(&["secrets", "rewrap"]).await;
    has(&done, json!({ "rewrapped": 3, "current": 3, "previous": 0, "unopened": 0 }));
    let back = "UPDATE endpoint_secrets SET sealed = (SELECT sealed FROM kept)";
    execute(&url, &format!("{back} WHERE endpoint_id = '{middle}'")).await;
    authority.unset("AUTHORITY_SECRET_KEK_PREVIOUS");
    let refused = authority.run(&["serve"]).await;
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("AUTHORITY_SECRET_KEK: does not open the signing secrets"), "{said}");
    authority.set("AUTHORITY_SECRET_KEK_PREVIOUS", KEK);
    authority.restart().await;
}

/// There is no endpoint, and a request whose answer showed a secret may be repeated.
async fn a_key_that_an_answer_needs_is_not_done_without(database: Database) {
    let (mut authority, merchant) = Merchant::on(database, "keys-alone").await;
    let path = format!("/merchants/{}/api-keys", merchant.id);
    let body = json!({ "name": "k", "mode": "test", "scopes": ["events:read"] });
    let issued = merchant.operator.post_as("a", &path, &body).await.expect(201);
    authority.terminate().await;
    authority.set("AUTHORITY_SECRET_KEK", NEW_KEK);
    let refused = authority.run(&["serve"]).await;
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("AUTHORITY_SECRET_KEK: does not open the answers that show a secret"), "{said}");
    authority.set("AUTHORITY_SECRET_KEK_PREVIOUS", KEK);
    authority.restart().await;
    let done = authority.tells(&["secrets", "rewrap"]).await;
    has(&done, json!({ "rewrapped": 1, "current": 1, "previous": 0, "unopened": 0 }));
    authority.terminate().await;
    authority.unset("AUTHORITY_SECRET_KEK_PREVIOUS");
    authority.restart().await;
    assert_eq!(merchant.operator.post_as("a", &path, &body).await.expect(201), issued);
}
