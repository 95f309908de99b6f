//! Bodies about partners: inviting, accepting, sharing (contract 4.14).

use serde_json::Value;

use crate::body;
use crate::body::{Members, Text};
use crate::partner::invite_code::InviteCode;
use crate::partner::share::ShareTerms;
use crate::refusal::Result;

/// Reads `{label?}` of a new invitation.
///
/// # Errors
/// 422 with every wrong member.
pub fn read_label(body: &Value) -> Result<Option<String>> {
    body::read(body, |m| m.string("label", Text::LINE).optional())
}

/// `POST /partner-connections/accept`.
#[derive(Clone, Debug)]
pub struct AcceptRequest {
    /// `None`: a text that is no code, which is a code that nobody was given.
    pub invite_code: Option<InviteCode>,
    /// What this side calls the connection.
    pub label: Option<String>,
}

impl AcceptRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| Self {
            invite_code: InviteCode::parse(&m.string("invite_code", Text::ID).required()),
            label: m.string("label", Text::LINE).optional(),
        })
    }
}

/// `POST /orders/:order/shares`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareRequest {
    /// As it was named; a malformed one is a connection that does not exist.
    pub connection_id: String,
    /// What the partner is to see.
    pub terms: ShareTerms,
}

impl ShareRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| {
            m.not_writable("permissions order_number owner partner status revoked_at");
            Self { connection_id: m.string("connection_id", Text::ID).required(), terms: terms(m) }
        })
    }
}

/// Reads a body of what a partner is to see, and nothing else: `POST /orders/:order/share` of the sandbox.
///
/// # Errors
/// 422 with every wrong member.
pub fn read_share_terms(body: &Value) -> Result<ShareTerms> {
    body::read(body, terms)
}

fn terms(m: &mut Members<'_>) -> ShareTerms {
    ShareTerms {
        include_customer: m.boolean("include_customer").or(false),
        include_amounts: m.boolean("include_amounts").or(false),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::refusal::Refusal;

    const CODE: &str = "inv_01k3zqa7000000000000000000";
    const CONNECTION: &str = "pcn_01k3zqa7000000000000000000";

    #[test]
    fn what_is_left_out_is_not_shown() {
        let table = [
            (json!({"connection_id": CONNECTION}), false, false),
            (json!({"connection_id": CONNECTION, "include_customer": true}), true, false),
            (json!({"connection_id": CONNECTION, "include_amounts": true}), false, true),
        ];
        for (body, include_customer, include_amounts) in table {
            let read = ShareRequest::read(&body).unwrap();
            assert_eq!(read.terms, ShareTerms { include_customer, include_amounts }, "{body}");
            assert_eq!(read.connection_id, CONNECTION);
        }
    }

    #[test]
    fn a_text_that_is_no_code_is_read_as_none() {
        let read = |body: &Value| AcceptRequest::read(body).unwrap();
        assert!(read(&json!({"invite_code": CODE})).invite_code.is_some());
        assert!(read(&json!({"invite_code": "let me in"})).invite_code.is_none());
        assert_eq!(read(&json!({"invite_code": CODE, "label": "Acme"})).label.as_deref(), Some("Acme"));
    }

    #[test]
    fn wrong_members_are_told_by_their_places() {
        type Read = fn(&Value) -> Option<Refusal>;
        let label: Read = |body| read_label(body).err();
        let accept: Read = |body| AcceptRequest::read(body).err();
        let share: Read = |body| ShareRequest::read(body).err();
        let table = [
            (label, json!({"label": ""}), "/label too_short"),
            (label, json!({"label": 7}), "/label wrong_type"),
            (label, json!({"name": "Acme"}), "/name unknown_field"),
            (accept, json!({}), "/invite_code required"),
            (accept, json!({"invite_code": CODE, "label": "a\u{7}"}), "/label control_character"),
            (share, json!({}), "/connection_id required"),
            (
                share,
                json!({"connection_id": CONNECTION, "include_customer": null}),
                "/include_customer required",
            ),
            (
                share,
                json!({"connection_id": CONNECTION, "include_amounts": "yes"}),
                "/include_amounts wrong_type",
            ),
            (
                share,
                json!({"connection_id": CONNECTION, "permissions": ["read"]}),
                "/permissions field_not_writable",
            ),
        ];
        for (read, body, error) in table {
            assert_eq!(read(&body).unwrap().told(), [error], "{body}");
        }
    }
}
