//! One delivery as a test bends it: body, headers and configuration, all right to begin with.

use verify_core::{Headers, Secret, Tolerance, VerificationCode, Verifier, sign};

/// S1 of contract 10.8.
pub(crate) const S1: &str = "whsec_4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M";
/// S2 of contract 10.8.
pub(crate) const S2: &str = "whsec_Zk81HvTqLw3PpYdN6cRrXa0GmBf2Jt5SeUoKiCnEq7W";
/// 2026-09-01T12:00:00Z.
pub(crate) const NOW: i64 = 1_788_264_000;
/// Body B of contract 10.8.
pub(crate) const BODY: &str = r#"{"id":"evt_1","type":"webhook.test","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","merchant":{"id":"mer_1","slug":"a"},"data":{"object":{}}}"#;

#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) timestamp: Option<Vec<u8>>,
    pub(crate) signature: Option<Vec<u8>>,
    pub(crate) event_id: Option<Vec<u8>>,
    pub(crate) secrets: Vec<String>,
    pub(crate) tolerance: i64,
    pub(crate) now: i64,
}

impl Delivery {
    /// A delivery of this body, signed with S1 at `NOW`, with the id header of `evt_1`.
    pub(crate) fn of(body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref().to_vec();
        let timestamp = NOW.to_string();
        let secret = Secret::parse(S1).unwrap();
        let signature = sign::signature_header([&secret], &timestamp, &body);
        Self {
            body: Some(body),
            timestamp: Some(timestamp.into_bytes()),
            signature: Some(signature.into_bytes()),
            event_id: Some(b"evt_1".to_vec()),
            secrets: vec![S1.to_owned()],
            tolerance: 300,
            now: NOW,
        }
    }

    pub(crate) fn headers(&self) -> Headers<'_> {
        let [timestamp, signature, event_id] =
            [&self.timestamp, &self.signature, &self.event_id].map(Option::as_deref);
        Headers { timestamp, signature, event_id }
    }

    /// `"ok"` or the code.
    pub(crate) fn verdict(&self) -> &'static str {
        let verifier = Verifier::new(&self.secrets, Tolerance::new(self.tolerance).unwrap()).unwrap();
        verifier
            .verify(self.body.as_deref(), &self.headers(), self.now)
            .map_or_else(VerificationCode::as_str, |_| "ok")
    }
}
