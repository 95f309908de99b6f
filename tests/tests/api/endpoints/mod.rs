//! What merchants do with webhook endpoints and ask of deliveries (contract 2.8, 2.9, 2.12, 4.4, 4.9, 4.10), beyond
//! the acceptance checks A14 to A18, with a real receiver, on both databases.

mod changes;
mod client_certificate;
mod conditional;
mod deliveries;
mod health;
mod options;
mod profile;
mod replay;

use http::Method;
use serde_json::{Value, json};
use tests::{Api, Authority, Call, Merchant, Reply, text};

/// The path of an endpoint.
fn at(id: &str) -> String {
    format!("/webhook-endpoints/{id}")
}

fn patch(api: &Api, id: &str, body: &Value) -> Call {
    api.call(Method::PATCH, &at(id)).json(body)
}

fn delete(api: &Api, id: &str) -> Call {
    api.call(Method::DELETE, &at(id))
}

/// An endpoint made with `body`, as every answer shows it that holds it. The last is the newest.
async fn shown_everywhere(merchant: &Merchant, body: &Value) -> [Value; 5] {
    let api = &merchant.api;
    let made = api.post("/webhook-endpoints", body).await.expect(201);
    let path = at(&text(&made, "id"));
    let read = api.get(&path).await.expect(200);
    let listed = api.get("/webhook-endpoints").await.expect(200)["data"][0].clone();
    let of_operator = merchant.operator.get(&path).await.expect(200);
    let rotated = api.post(&format!("{path}/rotate-secret"), &json!({})).await.expect(200);
    [made, read, listed, of_operator, rotated]
}

/// Makes an endpoint and changes it, each twice under one key: its id, and the four answers.
async fn made_and_changed_twice(api: &Api, body: &Value, change: &Value) -> (String, Vec<Reply>) {
    let mut answers = Vec::new();
    for _ in 0..2 {
        answers.push(api.post_as("made-once", "/webhook-endpoints", body).await);
    }
    let id = text(&answers[0].expect(201), "id");
    for _ in 0..2 {
        answers.push(patch(api, &id, change).header("idempotency-key", "changed-once").send().await);
    }
    answers[2].expect(200);
    assert!(answers[1].is_replay() && answers[3].is_replay());
    (id, answers)
}

/// That none of `secrets` is in what was `seen`, in what a command prints (which is returned), the log, a file or the
/// database.
async fn are_nowhere(authority: &Authority, secrets: &[Vec<u8>], seen: Vec<Vec<u8>>) -> String {
    let listing = ["endpoint", "list", "--merchant", "unseen", "--mode", "test", "--json"];
    let listed = authority.run(&listing).await;
    assert!(listed.status.success(), "{listed:?}");
    let mut places = authority.left_behind();
    assert!(places.iter().any(|(name, bytes)| name == "authority.log" && !bytes.is_empty()));
    places.extend(seen.into_iter().enumerate().map(|(n, bytes)| (format!("answer {n}"), bytes)));
    places.push(("a command".to_owned(), [listed.stdout.clone(), listed.stderr].concat()));
    for (name, bytes) in &places {
        for secret in secrets {
            assert!(!bytes.windows(secret.len()).any(|part| part == secret), "a secret is in {name}");
        }
    }
    String::from_utf8(listed.stdout).unwrap()
}
