//! Every golden vector (contract 10.8, 15.12) through HTTP and workerd: the status and the code of contract 11.1.
//!
//! The vectors run unchanged. Each set of profile, secrets, tolerance and time they were made for becomes one Worker,
//! and all of them run side by side in one runtime.
//!
//! Two vectors of the first file cannot be said in HTTP: a field value has no outer blanks (RFC 9110 5.5), so a header
//! that is padded in the vector arrives trimmed, which is what contract 10.1 asks for, and its delivery is good. An
//! absent body and an empty one are the same on the wire; both vectors expect `missing_body`.

use std::collections::{BTreeMap, HashSet};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;
use tests::delivery::{Delivery, header_line};
use tests::workerd::{State, Worker, Workerd};
use verify_core::{Profile, VerificationCode};

/// The files, each with its profile and how many of its cases are sent.
const FILES: [(&str, Profile, usize); 2] =
    [("verification", Profile::Service, 129), ("standard_webhooks", Profile::StandardWebhooks, 89)];

/// Of the second file's cases about the form of a secret these are sent: each takes a Worker of its own, and the core
/// has been asked about all of them.
const FORMS_OF_SECRETS: [&str; 2] = ["secret: one byte", "secret: without padding"];

/// Vectors whose headers arrive trimmed, so that they verify.
const NOT_SAYABLE_IN_HTTP: [&str; 2] = ["ts: blank padded", "event id: blank padded"];

#[derive(Deserialize)]
struct Vectors {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    body_base64: Option<String>,
    timestamp: Option<String>,
    signature: Option<String>,
    event_id: Option<String>,
    secrets: Vec<String>,
    now: i64,
    tolerance: i64,
    expect: String,
}

impl Case {
    fn delivery(&self, profile: Profile) -> Delivery {
        let body = self.body_base64.as_deref().map(|text| BASE64_STANDARD.decode(text).unwrap());
        let names = profile.header_names();
        let signed = [
            (names.event_id, &self.event_id),
            (names.timestamp, &self.timestamp),
            (names.signature, &self.signature),
        ];
        let mut headers = vec![header_line("content-type", b"application/json")];
        for (name, value) in signed {
            headers.extend(value.as_ref().map(|value| header_line(name, value.as_bytes())));
        }
        Delivery { body: body.unwrap_or_default().into(), headers }
    }

    /// The answer, when the ids in `claimed` have been claimed from this case's Worker before.
    fn expected(&self, claimed: &mut HashSet<String>) -> (u16, String) {
        if self.expect != "ok" && !NOT_SAYABLE_IN_HTTP.contains(&self.name.as_str()) {
            let code: VerificationCode = VerificationCode::from_str(&self.expect).unwrap();
            return (code.http_status(), self.expect.clone());
        }
        let event_id = self.event_id.as_deref().unwrap().trim();
        let code = if claimed.insert(event_id.to_owned()) { "ok" } else { "duplicate" };
        (200, code.to_owned())
    }
}

/// A Worker for the profile, and the secrets, the tolerance and the time of `case`. What is not set is the service's.
fn worker(name: &str, profile: Profile, case: &Case) -> Worker {
    let (tolerance, now) = (case.tolerance.to_string(), case.now.to_string());
    let secrets = ["SIGNING_SECRET", "SIGNING_SECRET_PREVIOUS"];
    assert!(case.secrets.len() <= secrets.len(), "{}", case.name);
    let mut variables =
        vec![("ENVIRONMENT", "test"), ("TEST_NOW", now.as_str()), ("TOLERANCE_SECONDS", tolerance.as_str())];
    if profile != Profile::Service {
        variables.push(("SIGNATURE_PROFILE", profile.as_str()));
    }
    variables.extend(secrets.into_iter().zip(case.secrets.iter().map(String::as_str)));
    Worker::edge_receiver(name).with_variables(variables)
}

fn cases(name: &str, profile: Profile) -> Vec<Case> {
    let file = format!("{}/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let vectors: Vectors = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let is_sent = |case: &Case| {
        let name = case.name.as_str();
        profile == Profile::Service || !name.starts_with("secret: ") || FORMS_OF_SECRETS.contains(&name)
    };
    vectors.cases.into_iter().filter(is_sent).collect()
}

#[tokio::test]
async fn every_vector_has_its_status_and_code() {
    let files = FILES.map(|(name, profile, count)| (profile, cases(name, profile), count));
    let mut groups: BTreeMap<_, (Profile, Vec<&Case>)> = BTreeMap::new();
    for (profile, cases, count) in &files {
        assert_eq!(cases.len(), *count);
        for case in cases {
            let group = (profile.as_str(), &case.secrets, case.tolerance, case.now);
            groups.entry(group).or_insert_with(|| (*profile, Vec::new())).1.push(case);
        }
    }
    let groups: Vec<_> =
        groups.into_values().enumerate().map(|(n, group)| (format!("vectors-{n}"), group)).collect();
    let workers: Vec<_> =
        groups.iter().map(|(name, (profile, cases))| worker(name, *profile, cases[0])).collect();
    let state = State::new();
    let workerd = Workerd::start(&state, &workers).await;

    let (mut wrong, mut answered) = (Vec::new(), 0);
    for (name, (profile, cases)) in &groups {
        let mut claimed = HashSet::new();
        for case in cases {
            let delivery = case.delivery(*profile);
            let reply = workerd.send(delivery.request(&workerd.url(name, "/webhooks"))).await;
            let (expected_status, expected_code) = case.expected(&mut claimed);
            answered += 1;
            if reply.outcome() != (expected_status, expected_code.as_str()) {
                wrong.push(format!("{}: {:?}, not {expected_code}", case.name, reply.outcome()));
            }
        }
    }
    workerd.stop().await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let all = || files.iter().flat_map(|(_, cases, _)| cases);
    let not_sayable = all().filter(|case| NOT_SAYABLE_IN_HTTP.contains(&case.name.as_str()));
    assert_eq!((not_sayable.count(), answered), (2, all().count()));
}
