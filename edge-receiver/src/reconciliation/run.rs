//! One run: pages are asked for, made durable in their inboxes, and the position is moved behind them.

use verify_core::{API_VERSION, event_list};
use worker::wasm_bindgen::{JsCast as _, JsValue};
use worker::web_sys::{AbortSignal, Headers, RequestInit, RequestRedirect};
use worker::{console_error, js_sys, web_sys};

use super::api::{Api, PAGE_BYTES_MAX, PAGE_EVENTS, PAGE_EVENTS_IF_LARGE};
use super::object::Reconciliation;
use super::report::{Counts, Outcome};
use super::trouble::{self, Trouble};
use super::{page, position, progress};
use crate::runtime::{self, Body};
use crate::{clock, inbox, js};

/// Pages of one run. A page costs one request to the API and at most one to each inbox: together below the least that a
/// plan of the platform allows (50 to others, 1,000 to its own parts).
const PAGES_MAX: u32 = 40;

/// No page is begun later than this in a run, in milliseconds; a scheduled run may take minutes.
const RUN_MS_MAX: i64 = 60_000;

/// A page must have arrived after this, in milliseconds.
const PAGE_MS_MAX: u32 = 15_000;

/// A run on its way.
pub(super) struct Run<'r> {
    object: &'r Reconciliation,
    position: Option<String>,
    pub(super) counts: Counts,
    /// How long the API wants to be left alone.
    pub(super) pause_seconds: u32,
}

/// Why a run ends early, and the status of the API that says so.
pub(super) type Failed = (Trouble, Option<u16>);

impl<'r> Run<'r> {
    /// A run from this position on.
    pub(super) fn new(object: &'r Reconciliation, position: Option<String>) -> Self {
        Self { object, position, counts: Counts::default(), pause_seconds: 0 }
    }

    /// Takes in page after page, until the last one or the end of the run's time.
    pub(super) async fn catch_up(&mut self, api: &Api) -> Result<Outcome, Failed> {
        let begun_ms = clock::runtime_ms();
        while self.counts.pages < PAGES_MAX && clock::runtime_ms() - begun_ms < RUN_MS_MAX {
            let body = match self.ask(api, PAGE_EVENTS).await {
                Err((Trouble::PageTooLarge, _)) => self.ask(api, PAGE_EVENTS_IF_LARGE).await,
                answer => answer,
            }?;
            if !self.take_in(&body).await.map_err(|trouble| (trouble, None))? {
                return Ok(Outcome::Complete);
            }
        }
        Ok(Outcome::Paused)
    }

    /// The body of the page behind the position.
    async fn ask(&mut self, api: &Api, limit: u8) -> Result<Vec<u8>, Failed> {
        const UNREACHABLE: Failed = (Trouble::Unreachable, None);
        let request = page_request(api, self.position.as_deref(), limit).map_err(|_| UNREACHABLE)?;
        let answer =
            js::call(&js_sys::global(), "fetch", &[request.into()]).await.map_err(|_| UNREACHABLE)?;
        let answer = answer.dyn_into::<web_sys::Response>().map_err(|_| UNREACHABLE)?;
        let status = answer.status();
        let retry_after = answer.headers().get("retry-after").ok().flatten();
        let body = match runtime::read(&answer, PAGE_BYTES_MAX).await {
            Body::Whole(body) => body,
            Body::TooLong => return Err((Trouble::PageTooLarge, Some(status))),
            Body::Broken => return Err((Trouble::Unreachable, Some(status))),
            Body::Missing => Vec::new(),
        };
        if status == 200 {
            return Ok(body);
        }
        let trouble = trouble::of_answer(status, &body);
        self.pause_seconds = trouble::pause_seconds(trouble, retry_after.as_deref());
        Err((trouble, Some(status)))
    }

    /// Makes the events of a page durable, then moves the position. Whether another page follows.
    async fn take_in(&mut self, body: &[u8]) -> Result<bool, Trouble> {
        let page = event_list::read(body).map_err(|_| Trouble::UnexpectedAnswer)?;
        let progress = progress::after(&page, self.position.as_deref())?;
        let sorted = page::sort(&page.events);
        let mut counts = Counts { pages: 1, refused: sorted.refused.len() as u32, ..Counts::default() };
        for (place, code) in &sorted.refused {
            console_error!("entry {place} of a page of events is no event: {code}");
        }
        for (shard, events) in &sorted.by_shard {
            let taken =
                inbox::claim_all(&self.object.env, *shard, events).await.map_err(|error| storage(&error))?;
            counts.first += taken.first;
            counts.too_old += taken.too_old;
            counts.duplicates += (events.len() as u32).saturating_sub(taken.first + taken.too_old);
        }
        if let Some(position) = progress.position {
            self.move_to(position)?;
        }
        self.counts.add(counts);
        Ok(progress.more)
    }

    fn move_to(&mut self, position: &str) -> Result<(), Trouble> {
        let parameters = vec![position.into(), self.position.as_deref().into()];
        let moved = self.object.sql.exec(position::MOVE, parameters).map(|rows| rows.raw().next());
        match moved.map_err(|error| storage(&error))? {
            Some(_) => {
                self.position = Some(position.to_owned());
                Ok(())
            }
            None => Err(Trouble::Overtaken),
        }
    }
}

fn storage(error: &worker::Error) -> Trouble {
    console_error!("reconciliation cannot store: {error}");
    Trouble::StorageUnavailable
}

fn page_request(api: &Api, cursor: Option<&str>, limit: u8) -> Result<web_sys::Request, JsValue> {
    let headers = Headers::new()?;
    headers.set("authorization", &api.authorization())?;
    headers.set("accept", "application/json")?;
    headers.set("service-version", API_VERSION)?;
    let init = RequestInit::new();
    init.set_headers(&headers);
    // The key goes nowhere else: a redirect is an unexpected answer.
    init.set_redirect(RequestRedirect::Manual);
    init.set_signal(Some(&AbortSignal::timeout_with_u32(PAGE_MS_MAX)));
    web_sys::Request::new_with_str_and_init(&api.page_url(cursor, limit), &init)
}
