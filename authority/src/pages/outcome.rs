//! What a handler makes of a request, and how that is sent.

use std::sync::Arc;

use authority_domain::{KeyId, RequestId, Result};
use axum::response::Response;
use http::StatusCode;

use super::Visitor;
use super::answer::{html, redirect, refused};
use crate::http::AppState;
use crate::http::unsent::Unsent;

/// What a handler makes of a request.
pub(crate) enum Outcome {
    /// A page with its status.
    Page(StatusCode, String),
    /// The page that alone tells of a write that was done, such as the one with a new secret. Nobody could ask for it
    /// again, so it is sent however much of what the visitor was answered waits to be read (contract 18.2).
    Done(String),
    /// Somewhere else: what follows a form that was done.
    Redirect(String),
}

/// Sends the browser to `path` and lets that page say what was done.
pub(crate) fn done(path: &str, what: &str) -> Outcome {
    let joint = if path.contains('?') { '&' } else { '?' };
    Outcome::Redirect(format!("{path}{joint}done={what}"))
}

pub(super) fn answered<W: Visitor>(
    state: &AppState,
    outcome: Result<Outcome>,
    who: &W,
    id: &RequestId,
) -> Response {
    let response = outcome.and_then(|outcome| counted(&state.unsent, who.credential(), outcome));
    response.unwrap_or_else(|refusal| refused::<W>(state, &refusal, id))
}

/// The answer, whose bytes count until they are read.
fn counted(unsent: &Arc<Unsent>, credential: &KeyId, outcome: Outcome) -> Result<Response> {
    let hold = |page: String, must_be_given| unsent.hold(credential, page.into(), must_be_given);
    Ok(match outcome {
        Outcome::Redirect(path) => redirect(&path),
        Outcome::Page(status, page) => html(status, hold(page, false)?),
        Outcome::Done(page) => html(StatusCode::OK, hold(page, true)?),
    })
}

#[cfg(test)]
mod tests {
    use authority_domain::ErrorCode;
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_page_waits_until_others_are_read_unless_it_tells_of_a_write() {
        let (unsent, session) = (Arc::new(Unsent::default()), KeyId::from_store("pts_1".to_owned()));
        let page = |status| Outcome::Page(status, "<p>".to_owned());
        let unread = unsent.hold(&session, Bytes::from(vec![b'x'; 32 * 1024 * 1024]), false).unwrap();
        for status in [StatusCode::OK, StatusCode::UNPROCESSABLE_ENTITY] {
            let refusal = counted(&unsent, &session, page(status)).unwrap_err();
            assert_eq!(refusal.code, ErrorCode::RateLimited);
        }
        let told = counted(&unsent, &session, Outcome::Done("<p>".to_owned())).unwrap();
        assert_eq!(told.status(), StatusCode::OK);
        let moved = counted(&unsent, &session, done("/portal", "changed")).unwrap();
        assert_eq!(moved.status(), StatusCode::SEE_OTHER);
        drop((unread, told));
        assert!(counted(&unsent, &session, page(StatusCode::OK)).is_ok());
    }
}
