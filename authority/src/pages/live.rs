//! Pages that keep themselves up to date (contract 20).
//!
//! A page that follows names a stream of server-sent events and the mark of change that stood when it was made. Its
//! script (`live.js`) listens; each event says that something has changed, not what. The script then asks for the same
//! page and takes over the regions that are live. So there is one way to make a page, and a browser without a script
//! misses nothing but the convenience: it can have the page load itself again instead.
//!
//! A stream ends with the session, which is looked up every few seconds, with the service, and after a quarter of an
//! hour; browsers then connect again, to whichever instance. What the script asks for is no act of the person in front
//! of the screen, so it never keeps a session from ending for want of use. How many may listen is
//! [`crate::http::live`]'s.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::Duration;

use authority_domain::Refusal;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderName, HeaderValue};
use tokio::time::{Sleep, sleep};

use super::answer::{foreign, refused};
use super::visit::{Visit, enter, request_id_of};
use super::{Presence, Visitor, origin};
use crate::app::live::ChangeMark;
use crate::http::AppState;
use crate::http::live::Listener;
use crate::http::rate_limit::Policy;

/// How often the session is looked up.
const CHECKED: Duration = Duration::from_secs(5);
/// The longest that a stream lasts.
const LONGEST: Duration = Duration::from_secs(15 * 60);
/// How often a comment is sent, so that no proxy takes the stream for dead and a peer that is gone is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// When a browser connects again.
const RETRY: Duration = Duration::from_secs(5);

/// What a page needs to follow.
#[derive(Clone)]
pub(crate) struct Live {
    /// The path of the stream.
    pub(crate) stream: String,
    /// The mark that stood before the page was made.
    pub(crate) seen: String,
}

/// The routes of a site.
pub(super) fn routes<W: Visitor>() -> Router<AppState> {
    let root = W::SITE.links.root;
    Router::new()
        .route(&format!("{root}/live.js"), get(script))
        .route(&format!("{root}/live"), get(follow::<W>))
}

async fn script() -> ([(HeaderName, HeaderValue); 1], &'static str) {
    let javascript = HeaderValue::from_static("text/javascript; charset=utf-8");
    ([(CONTENT_TYPE, javascript)], include_str!("live.js"))
}

async fn follow<W: Visitor>(State(state): State<AppState>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let id = request_id_of(&parts);
    if !origin::is_ours(&parts.headers) {
        return foreign::<W>(&state, "Only a page of this site may listen here.", &id);
    }
    let visit = match enter::<W>(&state, &parts, W::FOLLOWS, Policy::Read, Presence::Script).await {
        Ok(visit) => visit,
        Err(response) => return response,
    };
    let Some(watched) = W::watched(&visit) else {
        return refused::<W>(&state, &Refusal::not_found("stream"), &id);
    };
    match state.live.listen(visit.who.form_token(), visit.who.client(), watched) {
        Ok(listener) => answered(Following::<W>::new(listener, state, parts, &visit)),
        Err(refusal) => refused::<W>(&state, &refusal, &id),
    }
}

fn answered<W: Visitor>(following: Following<W>) -> Response {
    let events = stream::unfold(following, |mut following| async {
        Some((Ok::<_, Infallible>(following.next().await?), following))
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response();
    // Proxies that understand this pass events on one by one.
    response
        .headers_mut()
        .insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// One stream.
struct Following<W> {
    listener: Listener,
    state: AppState,
    parts: Parts,
    /// Whose session it is.
    session: String,
    /// What the page shows.
    seen: Option<ChangeMark>,
    greeted: bool,
    check: Pin<Box<Sleep>>,
    end: Pin<Box<Sleep>>,
    of: std::marker::PhantomData<fn() -> W>,
}

impl<W: Visitor> Following<W> {
    fn new(listener: Listener, state: AppState, parts: Parts, visit: &Visit<W>) -> Self {
        // A browser that connects again says what it saw last.
        let last = parts.headers.get("last-event-id").and_then(|line| line.to_str().ok());
        let seen = ChangeMark::parse(last.unwrap_or_else(|| visit.asked("seen")));
        let session = visit.who.form_token().to_owned();
        let (check, end) = (Box::pin(sleep(CHECKED)), Box::pin(sleep(LONGEST)));
        Self { listener, state, parts, session, seen, greeted: false, check, end, of: Default::default() }
    }

    /// The next event; `None` is the end.
    async fn next(&mut self) -> Option<Event> {
        if !std::mem::replace(&mut self.greeted, true) {
            return Some(Event::default().retry(RETRY));
        }
        loop {
            tokio::select! {
                mark = self.listener.next() => {
                    let mark = Some(mark?);
                    if self.seen != mark {
                        self.seen = mark;
                        return Some(event(mark?));
                    }
                }
                () = &mut self.check => {
                    if !self.is_signed_in().await {
                        return None;
                    }
                    self.check = Box::pin(sleep(CHECKED));
                }
                () = &mut self.end => return None,
            }
        }
    }

    async fn is_signed_in(&self) -> bool {
        let found = W::of(&self.state, &self.parts, Presence::Script).await;
        found.is_ok_and(|who| who.is_some_and(|who| who.form_token() == self.session && who.may(W::FOLLOWS)))
    }
}

fn event(mark: ChangeMark) -> Event {
    Event::default().event("changed").id(mark.to_string()).data("changed")
}
