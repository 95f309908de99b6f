//! Why did the receiver answer 401? What can be known on the sender's side, in the explainer's words.
//!
//! The explainer judges the delivery as a receiver with the secret of this session would. If it finds nothing wrong,
//! the fault is on the receiver's side, and only the receiver's answer says more: receivers of this project answer with
//! the code of the refusal (contract 11.1). The causes that fit this code follow, the likeliest first; without a code
//! those of `invalid_signature` do, by far the most frequent.

use serde::Deserialize;
use verify_core::{Headers, Tolerance, VerificationCode};
use verify_explain::{Cause, Delivery, Finding, Trust};

/// What was sent, and how the receiver refused it.
pub(super) struct Refused<'a> {
    pub(super) body: &'a [u8],
    pub(super) event_id: &'a str,
    pub(super) timestamp: &'a str,
    pub(super) signature: &'a str,
    /// The secret of this session.
    pub(super) secret: &'a str,
    /// The time, Unix seconds.
    pub(super) now: i64,
    /// The beginning of the receiver's answer.
    pub(super) answer: Option<&'a str>,
}

/// Why a delivery was probably refused.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The code in the receiver's answer, if it is one of contract 10.2.
    pub(super) code: Option<&'static str>,
    /// The likeliest cause first.
    pub(super) causes: Vec<Finding>,
}

impl Refused<'_> {
    pub(super) fn explain(&self) -> Refusal {
        let code = self.answer.and_then(code_of);
        let own = self.own_faults();
        let causes = if own.is_empty() { self.receiver_faults(code) } else { own };
        Refusal { code, causes }
    }

    /// What is wrong with the delivery itself.
    fn own_faults(&self) -> Vec<Finding> {
        let headers = Headers {
            timestamp: Some(self.timestamp.as_bytes()),
            signature: Some(self.signature.as_bytes()),
            event_id: Some(self.event_id.as_bytes()),
        };
        let delivery = Delivery { body: Some(self.body), headers, lines: &[] };
        let secrets = [self.secret];
        let tolerance = Tolerance::DEFAULT;
        let trust = Trust { secrets: &secrets, other_secrets: &[], tolerance, now: self.now };
        // One secret is never too many.
        verify_explain::explain(&delivery, &trust).map(|explanation| explanation.causes).unwrap_or_default()
    }

    /// What a receiver does wrong that refuses a valid delivery with this code.
    fn receiver_faults(&self, code: Option<&str>) -> Vec<Finding> {
        let finding = |cause, evidence: String| Finding { cause, evidence };
        let answered = code.map_or_else(|| "401".to_owned(), |code| format!("401 {code}"));
        if code == Some(VerificationCode::StaleTimestamp.as_str()) {
            let evidence = format!(
                "The delivery was signed at {} by this machine's clock, and the receiver answered {answered}.",
                self.timestamp
            );
            return vec![finding(Cause::ClockSkew, evidence)];
        }
        if code == Some(VerificationCode::MissingSignature.as_str()) {
            let evidence = format!(
                "The delivery was sent with Service-Signature and Service-Timestamp, and the receiver answered {answered}."
            );
            return vec![
                finding(Cause::HeaderRenamed, evidence.clone()),
                finding(Cause::HeaderDropped, evidence),
            ];
        }
        let secret = format!(
            "The receiver answered {answered}, although the delivery verifies with the secret of this session. Does the \
             receiver use the secret that `listen` printed?"
        );
        let body = format!(
            "The body was sent as {} bytes. A receiver that verifies after a parser sees other bytes.",
            self.body.len()
        );
        vec![finding(Cause::OtherSecret, secret), finding(Cause::BodyReserialized, body)]
    }
}

/// The code of contract 10.2 in a receiver's answer.
pub(in crate::cli) fn code_of(answer: &str) -> Option<&'static str> {
    let code = code_member(answer)?;
    VerificationCode::ALL.iter().map(|known| known.as_str()).find(|known| *known == code)
}

/// The member `code` of the JSON object that receivers of this project answer with (contract 11.1).
pub(super) fn code_member(answer: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Body {
        code: String,
    }
    serde_json::from_str(answer).ok().map(|Body { code }| code)
}

#[cfg(test)]
mod tests {
    use verify_core::Secret;
    use verify_core::sign::signature_header;

    use super::*;

    const SECRET: &str = "whsec_4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M";
    const BODY: &str = r#"{"id":"evt_1","type":"webhook.test","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","merchant":{"id":"mer_1","slug":"a"},"data":{"object":{}}}"#;
    const TIMESTAMP: &str = "1788264000";

    /// The causes for a delivery of `body`, signed over [`BODY`], that was refused after `late` seconds.
    fn causes(body: &str, late: i64, answer: Option<&str>) -> (Option<&'static str>, Vec<&'static str>) {
        let secret = Secret::parse(SECRET).unwrap();
        let signature = signature_header(&[secret], TIMESTAMP, BODY.as_bytes());
        let refused = Refused {
            body: body.as_bytes(),
            event_id: "evt_1",
            timestamp: TIMESTAMP,
            signature: &signature,
            secret: SECRET,
            now: 1_788_264_000 + late,
            answer,
        };
        let refusal = refused.explain();
        let text = format!("{refusal:?}");
        assert!(!text.contains(&SECRET[6..]) && !text.contains(&signature[3..]), "{text}");
        (refusal.code, refusal.causes.iter().map(|finding| finding.cause.as_str()).collect())
    }

    #[test]
    fn the_causes_fit_the_code_that_the_receiver_answered() {
        let secret_or_body = vec!["other_secret", "body_reserialized"];
        for (answer, code, expected) in [
            (Some(r#"{"code":"invalid_signature"}"#), Some("invalid_signature"), secret_or_body.clone()),
            (Some(r#"{"code":"stale_timestamp"}"#), Some("stale_timestamp"), vec!["clock_skew"]),
            (
                Some(r#"{"code":"missing_signature"}"#),
                Some("missing_signature"),
                vec!["header_renamed", "header_dropped"],
            ),
            (Some(r#"{"code":"whsec_no_code"}"#), None, secret_or_body.clone()),
            (Some("Unauthorized"), None, secret_or_body.clone()),
            (None, None, secret_or_body),
        ] {
            assert_eq!(causes(BODY, 0, answer), (code, expected), "{answer:?}");
        }
    }

    #[test]
    fn a_fault_of_the_delivery_itself_comes_before_any_guess() {
        let changed = BODY.replace("webhook.test", "webhook.tests");
        assert_eq!(causes(&changed, 0, None), (None, vec!["other_secret_or_bytes"]));
        assert_eq!(causes(BODY, 4_000, None), (None, vec!["old_delivery", "clock_skew"]));
    }
}
