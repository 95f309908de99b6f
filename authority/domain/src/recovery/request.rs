//! `POST /webhook-endpoints/:id/recover` (contract 15.2).

use serde_json::Value;

use crate::body;
use crate::endpoint::event_filters;
use crate::refusal::{MemberCode, Result};
use crate::time::Timestamp;

/// What is to be sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveryRequest {
    /// Events created then or later.
    pub since: Timestamp,
    /// Events created before.
    pub until: Option<Timestamp>,
    /// `*`, catalog names and `<category>.*`, sorted; `None` is all that the endpoint wants.
    pub types: Option<Vec<String>>,
    /// Only count.
    pub dry_run: bool,
}

impl RecoveryRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member; `until` must be after `since`.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| {
            let request = Self {
                since: m.time("since").required(),
                until: m.time("until").optional(),
                types: event_filters(m, "types").optional(),
                dry_run: m.boolean("dry_run").or(false),
            };
            // One that cannot be read is the epoch here; its error is recorded already.
            let readable = body["until"].as_str().and_then(Timestamp::parse).is_some();
            if readable && request.until.is_some_and(|until| until <= request.since) {
                m.refuse("until", MemberCode::OutOfRange, "Must be after since.");
            }
            request
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_range_types_and_whether_to_count_only() {
        let since = Timestamp::parse("2026-09-01T12:00:00Z").unwrap();
        let all = RecoveryRequest { since, until: None, types: None, dry_run: false };
        assert_eq!(RecoveryRequest::read(&json!({"since": "2026-09-01T12:00:00Z"})), Ok(all.clone()));
        let body = json!({"since": "2026-09-01T14:00:00+02:00", "until": "2026-09-01T12:00:00.001Z",
                          "types": ["refund.*", "order.created", "refund.*"], "dry_run": true});
        let expected = RecoveryRequest {
            until: Some(since.plus_ms(1)),
            types: Some(vec!["order.created".into(), "refund.*".into()]),
            dry_run: true,
            ..all
        };
        assert_eq!(RecoveryRequest::read(&body), Ok(expected));
    }

    #[test]
    fn what_is_wrong_is_told_by_its_member() {
        let since = "2026-09-01T12:00:00Z";
        for (body, pointer) in [
            (json!({}), "/since"),
            (json!({"since": "yesterday"}), "/since"),
            (json!({"since": since, "until": since}), "/until"),
            (json!({"since": since, "until": "2026-09-01T11:59:59Z"}), "/until"),
            (json!({"since": since, "until": 7}), "/until"),
            (json!({"since": since, "types": []}), "/types"),
            (json!({"since": since, "types": ["order"]}), "/types/0"),
            (json!({"since": since, "dry_run": "yes"}), "/dry_run"),
            (json!({"since": since, "limit": 5}), "/limit"),
        ] {
            let refusal = RecoveryRequest::read(&body).unwrap_err();
            let told: Vec<&str> = refusal.members.iter().map(|member| member.pointer.as_str()).collect();
            assert_eq!(told, [pointer], "{body}");
        }
    }
}
