//! Bodies of consumers that keep a copy: acknowledging a cursor, naming an order (contract 4.12, 4.13).

use serde_json::{Value, json};

use crate::body;
use crate::body::{Text, shape, text_of};
use crate::order::external_references::NewReference;
use crate::refusal::Result;
use crate::sync::checkpoint::{Acknowledged, CheckpointStream, is_checkpoint_name};

/// `POST /sync/checkpoints`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointRequest {
    name: String,
    /// The feed that the cursor must be one of.
    pub stream: CheckpointStream,
    /// Any text: the holder of the cursor keys checks whether it is a cursor.
    pub cursor: String,
    force: bool,
}

impl CheckpointRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| {
            m.not_writable(
                "object id position lag_events acknowledged_at resource_version livemode created_at \
                updated_at",
            );
            let parse = |text: &str| is_checkpoint_name(text).then(|| text.to_owned());
            let what = "a lower-case letter or digit, then up to 63 of a-z, 0-9, '.', '_' and '-'";
            Self {
                name: m.parsed("name", Text::line(1, 64), what, String::new(), parse).required(),
                stream: m.one_of("stream").or(CheckpointStream::Events),
                cursor: m
                    .field("cursor", String::new(), |value| {
                        shape::rule(|| json!({ "type": "string" }));
                        text_of(value).map(str::to_owned)
                    })
                    .required(),
                force: m.boolean("force").or(false),
            }
        })
    }

    /// What is acknowledged, by a cursor that stands at `position`.
    #[must_use]
    pub fn at(self, position: i64) -> Acknowledged {
        let Self { name, stream, cursor, force } = self;
        Acknowledged { name, stream, cursor, position, force }
    }
}

/// The body of `PUT /orders/:order/external-references/:system`.
///
/// # Errors
/// 422 with every wrong member.
pub fn read_reference(body: &Value) -> Result<NewReference> {
    body::read(body, |m| {
        m.not_writable("system updated_at");
        NewReference { id: m.string("id", Text::ID).required(), url: m.https_url("url").optional() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_a_name_and_a_cursor() {
        let read = CheckpointRequest::read(&json!({"name": "a", "cursor": "x"})).unwrap();
        let expected = Acknowledged {
            name: "a".into(),
            stream: CheckpointStream::Events,
            cursor: "x".into(),
            position: 7,
            force: false,
        };
        assert_eq!(read.at(7), expected);
        let body = json!({"name": "a", "cursor": "", "stream": "orders", "force": true});
        let read = CheckpointRequest::read(&body).unwrap();
        let expected =
            Acknowledged { stream: CheckpointStream::Orders, cursor: String::new(), force: true, ..expected };
        assert_eq!(read.at(7), expected);
    }

    #[test]
    fn what_is_wrong_with_a_checkpoint_is_told_by_its_member() {
        for (body, expected) in [
            (json!({}), vec!["/name required", "/cursor required"]),
            (json!({"name": "", "cursor": 7}), vec!["/name too_short", "/cursor wrong_type"]),
            (json!({"name": "A", "cursor": null}), vec!["/name invalid_value", "/cursor required"]),
            (json!({"name": "a".repeat(65), "cursor": "x"}), vec!["/name too_long"]),
            (json!({"name": "a", "cursor": "x", "stream": "order"}), vec!["/stream invalid_value"]),
            (json!({"name": "a", "cursor": "x", "force": 1}), vec!["/force wrong_type"]),
            (json!({"name": "a", "cursor": "x", "position": 1}), vec!["/position field_not_writable"]),
            (json!({"name": "a", "cursor": "x", "offset": 1}), vec!["/offset unknown_field"]),
        ] {
            assert_eq!(CheckpointRequest::read(&body).unwrap_err().told(), expected, "{body}");
        }
    }

    #[test]
    fn a_reference_is_an_id_and_perhaps_a_url() {
        let read = |body: Value| read_reference(&body).unwrap();
        assert_eq!(read(json!({"id": "SO-1"})), NewReference { id: "SO-1".into(), url: None });
        let url = "https://erp.example.com/SO-1";
        assert_eq!(
            read(json!({"id": "SO-1", "url": url})),
            NewReference { id: "SO-1".into(), url: Some(url.into()) }
        );
        assert_eq!(read(json!({"id": "é".repeat(128)})).url, None);
        for (body, expected) in [
            (json!({}), "/id required"),
            (json!({"id": ""}), "/id too_short"),
            (json!({"id": "é".repeat(129)}), "/id too_long"),
            (json!({"id": "a\u{7}"}), "/id control_character"),
            (json!({"id": 7}), "/id wrong_type"),
            (json!({"id": "a", "url": null}), "/url required"),
            (json!({"id": "a", "url": "http://erp.example.com/"}), "/url invalid_url"),
            (json!({"id": "a", "system": "erp"}), "/system field_not_writable"),
            (json!({"id": "a", "name": "b"}), "/name unknown_field"),
        ] {
            assert_eq!(read_reference(&body).unwrap_err().told(), [expected], "{body}");
        }
    }
}
