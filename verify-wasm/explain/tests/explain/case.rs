//! One delivery as a test bends it, and what is expected of its explanation.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::{Serialize, Serializer};
use verify_core::{BodyLimit, Headers, Secret, Tolerance, sign};
use verify_explain::{Delivery, Explanation, HeaderLine, Trust, explain_within};

/// S1 of contract 10.8.
pub(crate) const S1: &str = "whsec_4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M";
/// S2 of contract 10.8.
pub(crate) const S2: &str = "whsec_Zk81HvTqLw3PpYdN6cRrXa0GmBf2Jt5SeUoKiCnEq7W";
/// 2026-09-01T12:00:00Z.
pub(crate) const NOW: i64 = 1_788_264_000;
/// A body as the service writes it, with characters beyond ASCII and a slash.
pub(crate) const BODY: &str = r#"{"id":"evt_1","type":"order.confirmed","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","sequence":7,"merchant":{"id":"mer_1","slug":"a"},"data":{"object":{"note":"café 🛒 a/b","lines":[],"total":1250}}}"#;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// `None` is an absent body.
    #[serde(rename = "body_base64", serialize_with = "base64_text")]
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) timestamp: Option<String>,
    pub(crate) signature: Option<String>,
    pub(crate) event_id: Option<String>,
    /// Further header lines.
    pub(crate) lines: Vec<(String, String)>,
    pub(crate) secrets: Vec<String>,
    pub(crate) other_secrets: Vec<String>,
    pub(crate) tolerance: i64,
    pub(crate) max_body_bytes: i64,
    pub(crate) now: i64,
    pub(crate) code: String,
    /// The causes in order.
    pub(crate) causes: Vec<String>,
    /// What each of them says it has seen; filled in for the shared file.
    pub(crate) evidence: Vec<String>,
}

impl Case {
    /// A right delivery of `BODY`.
    pub(crate) fn right() -> Self {
        Self::of(BODY)
    }

    /// A right delivery of this body, which has the id `evt_1`.
    pub(crate) fn of(body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref().to_vec();
        Self {
            name: String::new(),
            signature: Some(signature(S1, &body)),
            body: Some(body),
            timestamp: Some(NOW.to_string()),
            event_id: Some("evt_1".to_owned()),
            lines: Vec::new(),
            secrets: vec![S1.to_owned()],
            other_secrets: Vec::new(),
            tolerance: 300,
            max_body_bytes: i64::from(BodyLimit::DEFAULT.bytes()),
            now: NOW,
            code: String::new(),
            causes: Vec::new(),
            evidence: Vec::new(),
        }
    }

    /// Named, damaged, and expected to be explained like this.
    pub(crate) fn when(
        mut self,
        name: &str,
        damage: impl FnOnce(&mut Self),
        code: &str,
        causes: &[&str],
    ) -> Self {
        damage(&mut self);
        name.clone_into(&mut self.name);
        code.clone_into(&mut self.code);
        self.causes = causes.iter().map(ToString::to_string).collect();
        self
    }

    pub(crate) fn headers(&self) -> Headers<'_> {
        let [timestamp, signature, event_id] = [&self.timestamp, &self.signature, &self.event_id]
            .map(|header| header.as_deref().map(str::as_bytes));
        Headers { timestamp, signature, event_id }
    }

    pub(crate) fn explanation(&self) -> Explanation {
        let lines: Vec<HeaderLine<'_>> =
            self.lines.iter().map(|(name, value)| HeaderLine { name, value: value.as_bytes() }).collect();
        let secrets: Vec<&str> = self.secrets.iter().map(String::as_str).collect();
        let other_secrets: Vec<&str> = self.other_secrets.iter().map(String::as_str).collect();
        let headers = self.headers();
        let tolerance = Tolerance::new(self.tolerance).unwrap();
        let trust = Trust { secrets: &secrets, other_secrets: &other_secrets, tolerance, now: self.now };
        let limit = BodyLimit::new(self.max_body_bytes).unwrap();
        let delivery = Delivery { body: self.body.as_deref(), headers, lines: &lines };
        explain_within(&delivery, &trust, limit).unwrap()
    }

    pub(crate) fn line(&mut self, name: &str, value: &str) {
        self.lines.push((name.to_owned(), value.to_owned()));
    }
}

/// The header of a delivery at `NOW`.
pub(crate) fn signature(secret: &str, body: &[u8]) -> String {
    sign::signature_header([&Secret::parse(secret).unwrap()], &NOW.to_string(), body)
}

fn base64_text<S: Serializer>(body: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
    body.as_ref().map(|body| BASE64_STANDARD.encode(body)).serialize(serializer)
}
