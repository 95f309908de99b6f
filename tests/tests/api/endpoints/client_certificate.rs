//! The client certificate of an endpoint (contract 4.10): written, shown by its fingerprint and expiry wherever the
//! endpoint is, and never seen again.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tests::{Database, Merchant, on_both_databases, text};

use super::{are_nowhere, at, made_and_changed_twice, patch, shown_everywhere};

const URL: &str = "http://127.0.0.1:9/a";

/// A certificate with its key, and what is shown of it.
struct Pair {
    certificate: String,
    private_key: String,
    shown: Value,
}

impl Pair {
    fn until(year: i32) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(year, 5, 6);
        let certificate = params.self_signed(&key).unwrap();
        let digest = Sha256::digest(certificate.der());
        let fingerprint: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let expires_at = format!("{year}-05-06T00:00:00.000Z");
        Self {
            certificate: certificate.pem(),
            private_key: key.serialize_pem(),
            shown: json!({ "fingerprint_sha256": fingerprint, "expires_at": expires_at }),
        }
    }

    fn written(&self) -> Value {
        json!({ "certificate": self.certificate, "private_key": self.private_key })
    }

    /// What must not be found anywhere: each line of both texts, and the key's own bytes.
    fn secrets(&self) -> Vec<Vec<u8>> {
        let lines = |pem: &str| -> Vec<String> {
            pem.lines().filter(|line| !line.starts_with('-')).map(str::to_owned).collect()
        };
        let der = BASE64_STANDARD.decode(lines(&self.private_key).concat()).unwrap();
        // Lines that are too short could be found anywhere.
        let texts = [&self.certificate, &self.private_key].into_iter().flat_map(|pem| lines(pem));
        let mut all: Vec<Vec<u8>> = texts.filter(|line| line.len() > 20).map(String::into_bytes).collect();
        all.push(der[36..68].to_vec());
        all
    }
}

async fn it_is_shown_by_fingerprint_and_expiry_alone(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "shown").await;
    let (api, operator) = (&merchant.api, &merchant.operator);
    let [first, second] = [Pair::until(2091), Pair::until(9999)];
    let plain = api.post("/webhook-endpoints", &json!({ "url": URL })).await.expect(201);
    assert_eq!(plain["client_certificate"], json!(null));
    let body = json!({ "url": URL, "client_certificate": first.written() });
    let everywhere = shown_everywhere(&merchant, &body).await;
    for shown in &everywhere {
        assert_eq!(shown["client_certificate"], first.shown);
    }
    let id = text(&everywhere[0], "id");
    // A change of something else leaves it. One that is set always makes a version; to remove none makes none.
    let mut version = everywhere[4]["resource_version"].as_i64().unwrap();
    let none = json!(null);
    for (body, shown, is_change) in [
        (json!({ "description": "new" }), &first.shown, true),
        (json!({ "client_certificate": first.written() }), &first.shown, true),
        (json!({ "client_certificate": second.written() }), &second.shown, true),
        (json!({ "client_certificate": null }), &none, true),
        (json!({ "client_certificate": null }), &none, false),
    ] {
        let changed = patch(api, &id, &body).send().await.expect(200);
        version += i64::from(is_change);
        assert_eq!((&changed["client_certificate"], &changed["resource_version"]), (shown, &json!(version)));
    }
    // The platform's own endpoint.
    let sink = operator.post("/sink", &body).await.expect(201);
    let read = operator.get("/sink").await.expect(200);
    let changed =
        operator.patch("/sink", &json!({ "client_certificate": second.written() })).await.expect(200);
    let shown = [&sink, &read, &changed].map(|record| &record["client_certificate"]);
    assert_eq!(shown, [&first.shown, &first.shown, &second.shown]);
}

async fn what_no_delivery_could_show_is_refused(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "refused").await;
    let api = &merchant.api;
    let [good, other, expired] = [Pair::until(2091), Pair::until(2091), Pair::until(2021)];
    let made = api.post("/webhook-endpoints", &json!({ "url": URL })).await.expect(201);
    let id = text(&made, "id");
    let (certificate, key) = (&good.certificate, &good.private_key);
    let [whole, of_certificate, of_key] =
        ["", "/certificate", "/private_key"].map(|end| format!("/client_certificate{end}"));
    let pair = |certificate: &str, key: &str| json!({ "certificate": certificate, "private_key": key });
    let table = [
        (json!("PEM"), &whole, "wrong_type"),
        (pair(&format!("{}{certificate}", " ".repeat(16 * 1024)), key), &of_certificate, "too_long"),
        (
            pair(&format!("{}{certificate}", " ".repeat(16 * 1024 - certificate.len())), key),
            &whole,
            "too_long",
        ),
        (json!({ "certificate": certificate }), &of_key, "required"),
        (json!({ "private_key": key }), &of_certificate, "required"),
        (pair("no PEM", key), &of_certificate, "invalid_value"),
        (pair(&format!("{certificate}{key}"), key), &of_certificate, "invalid_value"),
        (pair(&certificate.repeat(9), key), &of_certificate, "too_long"),
        (pair(&expired.certificate, &expired.private_key), &of_certificate, "invalid_value"),
        (pair(certificate, certificate), &of_key, "invalid_value"),
        (pair(certificate, &key.repeat(2)), &of_key, "invalid_value"),
        (pair(certificate, &other.private_key), &of_key, "invalid_value"),
        (pair(certificate, &key.replace("PRIVATE", "ENCRYPTED PRIVATE")), &of_key, "invalid_value"),
    ];
    let seen: Vec<Vec<u8>> = [&good, &other, &expired].into_iter().flat_map(Pair::secrets).collect();
    for (written, pointer, code) in table {
        let body = json!({ "url": URL, "client_certificate": written });
        let created = api.post("/webhook-endpoints", &body).await;
        let changed = patch(api, &id, &json!({ "client_certificate": written })).send().await;
        for refused in [created, changed] {
            let bytes = refused.body.to_vec();
            assert!(!seen.iter().any(|secret| bytes.windows(secret.len()).any(|part| part == secret)));
            let problem = refused.refused(422, "validation_failed");
            let error = &problem["errors"][0];
            assert_eq!((&error["pointer"], &error["code"]), (&json!(pointer), &json!(code)));
        }
    }
    assert_eq!(api.get(&at(&id)).await.expect(200), made_without_secret(made));
}

fn made_without_secret(mut made: Value) -> Value {
    made.as_object_mut().unwrap().remove("secret");
    made
}

/// What is set, replaced, refused and repeated is nowhere: not in an answer, the log, a file or the database, nor in
/// what a command prints.
async fn the_key_is_never_seen_again(database: Database) {
    let (authority, merchant) = Merchant::on(database, "unseen").await;
    let (api, operator) = (&merchant.api, &merchant.operator);
    let pairs = [2091, 2092, 2021, 2093].map(Pair::until);
    let [first, second, expired, of_sink] = &pairs;
    let body = json!({ "url": URL, "client_certificate": first.written() });
    let change = json!({ "client_certificate": second.written() });
    let (id, mut answers) = made_and_changed_twice(api, &body, &change).await;
    answers.push(patch(api, &id, &json!({ "client_certificate": expired.written() })).send().await);
    assert_eq!(answers[4].status, 422);
    let body = json!({ "url": URL, "client_certificate": of_sink.written() });
    answers.push(operator.post_as("sink-once", "/sink", &body).await);
    assert_eq!(answers[5].status, 201);
    for path in [&at(&id), "/webhook-endpoints", "/events"] {
        answers.push(api.get(path).await);
    }
    for path in [&at(&id), "/sink", "/audit-log?limit=100"] {
        answers.push(operator.get(path).await);
    }
    let secrets: Vec<Vec<u8>> = pairs.iter().flat_map(Pair::secrets).collect();
    let seen = answers.iter().map(|answer| answer.body.to_vec()).collect();
    let listed = are_nowhere(&authority, &secrets, seen).await;
    assert!(listed.contains(&text(&second.shown, "fingerprint_sha256")), "{listed}");
}

on_both_databases!(
    it_is_shown_by_fingerprint_and_expiry_alone,
    what_no_delivery_could_show_is_refused,
    the_key_is_never_seen_again,
);
