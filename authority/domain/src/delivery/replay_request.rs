//! `POST /events/:event/replay` (contract 4.9).

use serde_json::Value;

use crate::body;
use crate::body::Text;
use crate::id::EndpointId;
use crate::refusal::{MemberCode, MemberError, Refusal, Result};

/// Endpoints that one replay may name.
const ENDPOINTS_NAMED_MAX: usize = 16;

/// The endpoints to which an event is to be sent once more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayRequest {
    /// The ids as given in the body. A malformed id counts as an endpoint that does not exist. `None`: all endpoints
    /// that want the event.
    pub endpoint_ids: Option<Vec<String>>,
}

impl ReplayRequest {
    /// Reads the body; an empty one names no endpoint.
    ///
    /// # Errors
    /// 422 with every wrong member; an endpoint that is named twice is one.
    pub fn read(body: &Value) -> Result<Self> {
        let request = body::read(body, |m| Self {
            endpoint_ids: m.list("endpoint_ids", 1..=ENDPOINTS_NAMED_MAX, |id| Text::ID.check(id)).optional(),
        })?;
        let ids = || request.endpoint_ids.iter().flatten();
        let twice = ids().enumerate().filter(|(n, id)| ids().take(*n).any(|other| other == *id));
        let wrong =
            twice.map(|(n, _)| wrong_name(n, MemberCode::Duplicate, "This endpoint is named before."));
        Refusal::check(wrong.collect()).map(|()| request)
    }

    /// Refuses each id that no endpoint of the merchant has, with its index in the list.
    ///
    /// # Errors
    /// 422 with each of them.
    pub fn check_known(&self, known: impl Fn(&EndpointId) -> bool) -> Result<Vec<EndpointId>> {
        let (mut found, mut unknown) = (Vec::new(), Vec::new());
        for (n, text) in self.endpoint_ids.iter().flatten().enumerate() {
            match EndpointId::parse(text).filter(|id| known(id)) {
                Some(id) => found.push(id),
                None => unknown.push(wrong_name(
                    n,
                    MemberCode::UnknownReference,
                    "There is no such webhook endpoint.",
                )),
            }
        }
        Refusal::check(unknown).map(|()| found)
    }
}

/// What is wrong with the `n`th name.
fn wrong_name(n: usize, code: MemberCode, detail: &str) -> MemberError {
    MemberError::new(format!("/endpoint_ids/{n}"), code, detail)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "we_01k3zqa7000000000000000000";
    const OTHER: &str = "we_01k3zqa7000000000000000001";

    #[test]
    fn names_some_or_nobody() {
        assert_eq!(ReplayRequest::read(&json!({})), Ok(ReplayRequest { endpoint_ids: None }));
        let named = ReplayRequest::read(&json!({"endpoint_ids": [ID, OTHER]})).unwrap();
        let found = named.check_known(|_| true).unwrap();
        assert_eq!(found.iter().map(EndpointId::as_str).collect::<Vec<_>>(), [ID, OTHER]);
    }

    #[test]
    fn wrong_names_are_told_by_their_places() {
        let many: Vec<String> = (0..17).map(|n| format!("we_{n}")).collect();
        let table = [
            (json!({"endpoint_ids": null}), "/endpoint_ids required"),
            (json!({"endpoint_ids": []}), "/endpoint_ids too_short"),
            (json!({"endpoint_ids": many}), "/endpoint_ids too_long"),
            (json!({"endpoint_ids": ID}), "/endpoint_ids wrong_type"),
            (json!({"endpoint_ids": [ID, 1]}), "/endpoint_ids/1 wrong_type"),
            (json!({"endpoint_ids": [ID, OTHER, ID]}), "/endpoint_ids/2 duplicate"),
            (json!({"endpoints": [ID]}), "/endpoints unknown_field"),
        ];
        for (body, error) in table {
            assert_eq!(ReplayRequest::read(&body).unwrap_err().told(), [error], "{body}");
        }
        let named = ReplayRequest::read(&json!({"endpoint_ids": ["x", ID, OTHER]})).unwrap();
        let unknown = named.check_known(|id| id.as_str() == ID).unwrap_err().told();
        assert_eq!(unknown, [0, 2].map(|n| format!("/endpoint_ids/{n} unknown_reference")));
    }
}
