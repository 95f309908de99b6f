//! Why a receiver refused: what it got is pasted here, and judged with the endpoint's own secrets. Nothing is kept.

use askama::Template;
use authority_domain::{ErrorCode, MemberCode, Refusal, Result, Timestamp};
use axum::Router;
use verify_explain::Explanation;

use super::{KeepsEndpoints, route};
use crate::app::console::explain::{BODY_MAX, ReceivedDelivery};
use crate::http::AppState;
use crate::http::rate_limit::Policy;
use crate::pages::filters;
use crate::pages::form::Form;
use crate::pages::shell::Shell;
use crate::pages::view::{Cell, Table};
use crate::pages::visit::{Outcome, Visit, shows, submits_a_body};

/// The longest headers of a request (contract 5.6), in bytes.
const HEADERS_MAX: usize = 32 * 1024;

/// More than a time has, in bytes.
const TIME_MAX: usize = 64;

#[derive(Template)]
#[template(path = "explain.html")]
struct Page {
    shell: Shell,
    path: String,
    url: String,
    headers: String,
    body: String,
    received_at: String,
    /// What was found, when something was pasted.
    found: Option<Found>,
}

struct Found {
    code: &'static str,
    causes: Table,
}

/// The routes.
pub(super) fn routes<W: KeepsEndpoints>() -> Router<AppState> {
    Router::new().route(
        &route::<W>("explain"),
        shows(async |visit: Visit<W>, id: String| page(&visit, &id, None, None).await).merge(submits_a_body(
            W::READS,
            Policy::Write,
            explain::<W>,
        )),
    )
}

async fn explain<W: KeepsEndpoints>(mut visit: Visit<W>, form: Form, id: String) -> Result<Outcome> {
    let endpoint = W::endpoint(&visit, &id).await?.endpoint.id;
    let explained = match received(&form) {
        Ok(received) => visit.app.explain_delivery(&endpoint, received).await.map(Some),
        Err(refusal) => Err(refusal),
    };
    let explanation = explained.unwrap_or_else(|refusal| {
        visit.refused(refusal);
        None
    });
    page(&visit, &id, Some(&form), explanation).await
}

/// What was pasted.
fn received(form: &Form) -> Result<ReceivedDelivery> {
    let headers = form.lines("headers");
    if headers.len() > HEADERS_MAX {
        return Err(Refusal::new(
            ErrorCode::PayloadTooLarge,
            "The headers of a request have at most 32 KiB.",
        ));
    }
    let headers = headers.lines().filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
    let received_at = match form.text("received_at") {
        "" => None,
        text => Some(Timestamp::parse(text).ok_or_else(|| {
            let detail = "must be a time such as 2026-09-01T12:00:00Z";
            Refusal::member("/received_at", MemberCode::InvalidTime, detail)
        })?),
    };
    Ok(ReceivedDelivery { headers, body: form.lines("body").into_bytes(), received_at })
}

async fn page<W: KeepsEndpoints>(
    visit: &Visit<W>,
    id: &str,
    typed: Option<&Form>,
    explanation: Option<Explanation>,
) -> Result<Outcome> {
    let shown = W::endpoint(visit, id).await?;
    // What is too long was refused and does not come back: as HTML it may have five times as many bytes.
    let typed = |name: &str, most: usize| {
        typed.map(|form| form.lines(name)).filter(|text| text.len() <= most).unwrap_or_default()
    };
    visit.page(&Page {
        shell: visit.shell.clone(),
        path: W::SITE.links.record("endpoints", shown.endpoint.id.as_str()),
        url: shown.endpoint.url,
        headers: typed("headers", HEADERS_MAX),
        body: typed("body", BODY_MAX),
        received_at: typed("received_at", TIME_MAX),
        found: explanation.map(|explanation| found(&explanation)),
    })
}

fn found(explanation: &Explanation) -> Found {
    let rows = explanation.causes.iter().map(|finding| {
        let (cause, fix) = (finding.cause.as_str(), finding.cause.fix());
        vec![Cell::text(cause), Cell::text(finding.evidence.clone()), Cell::text(fix)]
    });
    let causes = Table {
        caption: "Likely causes, the likeliest first",
        head: &["Cause", "What was seen", "What to do"],
        rows: rows.collect(),
        empty: "It verifies with the secret of this endpoint. If the receiver refuses it, the receiver has another secret, \
                or verifies other bytes than these: compare the body that it hands to the verifier.",
    };
    Found { code: explanation.code(), causes }
}
