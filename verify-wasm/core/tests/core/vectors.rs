//! The shared verification vectors, natively: every case of both files in `tests/vectors`, one for each profile.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use verify_core::{Headers, Profile, Tolerance, Verifier};

#[derive(Deserialize)]
struct File {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    expect: String,
    body_base64: Option<String>,
    timestamp: Option<String>,
    signature: Option<String>,
    event_id: Option<String>,
    secrets: Vec<String>,
    now: i64,
    tolerance: i64,
}

impl Case {
    fn verdict(&self, profile: Profile) -> &'static str {
        let body = self.body_base64.as_ref().map(|text| STANDARD.decode(text).unwrap());
        let headers = Headers {
            timestamp: self.timestamp.as_deref().map(str::as_bytes),
            signature: self.signature.as_deref().map(str::as_bytes),
            event_id: self.event_id.as_deref().map(str::as_bytes),
        };
        let tolerance = Tolerance::new(self.tolerance).unwrap();
        let verifier = Verifier::for_profile(profile, &self.secrets, tolerance).unwrap();
        match verifier.verify(body.as_deref(), &headers, self.now) {
            Ok(envelope) => {
                assert_eq!(Some(envelope.id.as_ref()), self.event_id.as_deref(), "{}", self.name);
                assert_eq!(Some(envelope.text.as_bytes()), body.as_deref(), "{}", self.name);
                "ok"
            }
            Err(code) => code.as_str(),
        }
    }
}

#[test]
fn every_shared_vector_gets_its_verdict() {
    for (profile, name, count) in
        [(Profile::Service, "verification", 129), (Profile::StandardWebhooks, "standard_webhooks", 109)]
    {
        let path = format!("{}/../../tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let file: File = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let wrong: Vec<_> = file
            .cases
            .iter()
            .map(|case| (case, case.verdict(profile)))
            .filter(|(case, verdict)| case.expect != *verdict)
            .map(|(case, verdict)| format!("{}: expected {}, got {verdict}", case.name, case.expect))
            .collect();
        println!("{} vectors, {} wrong", file.cases.len(), wrong.len());
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert_eq!(file.cases.len(), count);
    }
}
