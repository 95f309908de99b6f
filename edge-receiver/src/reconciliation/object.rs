//! The object that runs the loop and keeps the position; the order of the steps is told above.

use std::cell::Cell;

use verify_core::{API_VERSION, event_list};
use worker::wasm_bindgen::{JsCast as _, JsValue};
use worker::web_sys::{AbortSignal, Headers, RequestInit, RequestRedirect};
use worker::{
    DurableObject, Env, Request, Response, Result, ScheduleContext, ScheduledEvent, SqlStorage,
    SqlStorageValue, State, console_error, console_log, durable_object, event, js_sys, wasm_bindgen, web_sys,
};

use super::api::{API_BASE, API_KEY, Api, PAGE_BYTES_MAX, PAGE_EVENTS, PAGE_EVENTS_IF_LARGE};
use super::report::{Counts, Outcome, Report};
use super::trouble::{self, Trouble};
use super::{page, position, progress};
use crate::configuration::{self, DEDUP, Dedup, InvalidVariable};
use crate::runtime::{self, Body};
use crate::{clock, inbox, js};

/// Name of the Durable Object namespace's binding.
const BINDING: &str = "RECONCILIATION";
/// The one object of its class.
const NAME: &str = "reconciliation";

/// Pages of one run. A page costs one request to the API and at most one to each inbox: together below the least that a
/// plan of the platform allows (50 to others, 1,000 to its own parts).
const PAGES_MAX: u32 = 40;
/// No page is begun later than this in a run, in milliseconds; a scheduled run may take minutes.
const RUN_MS_MAX: i64 = 60_000;
/// A page must have arrived after this, in milliseconds.
const PAGE_MS_MAX: u32 = 15_000;

/// What the object can be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    /// Run, and answer with the report.
    Run,
    /// Forget the position.
    Restart,
    /// Answer with what `GET /health` shows.
    Show,
}

impl Command {
    const ALL: [Self; 3] = [Self::Run, Self::Restart, Self::Show];

    fn path(self) -> &'static str {
        match self {
            Self::Run => "/run",
            Self::Restart => "/restart",
            Self::Show => "/show",
        }
    }
}

/// The Worker's entry for its cron trigger.
#[event(scheduled)]
async fn scheduled(_: ScheduledEvent, env: Env, _: ScheduleContext) {
    if let Ok(None) = configured(&env) {
        return;
    }
    if let Err(error) = tell(&env, Command::Run).await {
        console_error!("reconciliation could not be run: {error}");
    }
}

/// Has the object do something; its answer, JSON.
pub(crate) async fn tell(env: &Env, command: Command) -> Result<String> {
    runtime::text(runtime::ask(env, [BINDING, NAME], command.path(), None).await?).await
}

/// The API that the variables name. Where KV alone decides, there is no inbox that events could come into.
pub(crate) fn configured(env: &Env) -> Result<Option<Api>, InvalidVariable> {
    let variable = |name| configuration::variable(env, name);
    let api = Api::new(variable(API_BASE)?.as_deref(), variable(API_KEY)?.as_deref())?;
    if api.is_some() && configuration::dedup(env)? == Dedup::Kv {
        return Err(InvalidVariable(DEDUP));
    }
    Ok(api)
}

/// The object.
#[durable_object(fetch)]
pub struct Reconciliation {
    sql: SqlStorage,
    env: Env,
    running: Cell<bool>,
    has_table: Cell<bool>,
}

impl DurableObject for Reconciliation {
    fn new(state: State, env: Env) -> Self {
        let sql = state.storage().sql();
        Self { sql, env, running: Cell::new(false), has_table: Cell::new(false) }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        let path = request.path();
        if !self.has_table.replace(true) {
            self.sql.exec(position::CREATE, None)?;
        }
        let answer = match Command::ALL.into_iter().find(|command| command.path() == path) {
            Some(Command::Run) => self.run().await?,
            Some(Command::Restart) => {
                self.sql.exec(position::FORGET, None)?;
                r#"{"outcome":"restarted"}"#.to_owned()
            }
            Some(Command::Show) => self.show()?,
            None => return Ok(Response::empty()?.with_status(404)),
        };
        Ok(Response::builder().fixed(answer.into_bytes()))
    }
}

/// Sets the mark for as long as it lives, also when a run is dropped half way.
struct Running<'r>(&'r Cell<bool>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl Reconciliation {
    async fn run(&self) -> Result<String> {
        if self.running.replace(true) {
            return Ok(r#"{"outcome":"running"}"#.to_owned());
        }
        let _running = Running(&self.running);
        let started_at_ms = clock::now_ms(&self.env);
        let (position, not_before) = self.position()?;
        if started_at_ms < not_before {
            return Ok(r#"{"outcome":"waiting"}"#.to_owned());
        }
        let mut run = Run { object: self, position, counts: Counts::default(), pause_seconds: 0 };
        let outcome = match configured(&self.env) {
            Ok(Some(api)) => {
                run.catch_up(&api).await.unwrap_or_else(|(trouble, status)| Outcome::Failed(trouble, status))
            }
            Ok(None) => return Ok(r#"{"outcome":"off"}"#.to_owned()),
            Err(InvalidVariable(name)) => {
                console_error!("the value of {name} cannot be used");
                Outcome::Failed(Trouble::InvalidConfiguration, None)
            }
        };
        let (counts, pause_seconds) = (run.counts, run.pause_seconds);
        let report = Report { started_at_ms, ended_at_ms: clock::now_ms(&self.env), outcome, counts };
        let json = report.json();
        match outcome {
            Outcome::Failed(..) => console_error!("reconciliation: {json}"),
            _ => console_log!("reconciliation: {json}"),
        }
        let not_before =
            if pause_seconds == 0 { 0 } else { report.ended_at_ms + i64::from(pause_seconds) * 1000 };
        self.sql.exec(position::REPORT, vec![json.as_str().into(), not_before.into()])?;
        if outcome == Outcome::Complete {
            self.sql.exec(position::COMPLETE, vec![report.ended_at_ms.into()])?;
        }
        Ok(json)
    }

    fn position(&self) -> Result<(Option<String>, i64)> {
        match self.row(position::READ)?.as_slice() {
            [SqlStorageValue::Null, not_before] => Ok((None, number(not_before))),
            [SqlStorageValue::String(position), not_before] => {
                Ok((Some(position.clone()), number(not_before)))
            }
            _ => Err("the row of the position has another form".into()),
        }
    }

    fn show(&self) -> Result<String> {
        let row = self.row(position::SHOW)?;
        let [has_position, completed_at, last_run] = row.as_slice() else {
            return Err("the row of the position has another form".into());
        };
        let completed_at = match completed_at {
            SqlStorageValue::Null => "null".to_owned(),
            time => number(time).to_string(),
        };
        let last_run = match last_run {
            SqlStorageValue::String(json) => json.as_str(),
            _ => "null",
        };
        let (has_position, running) = (number(has_position) == 1, self.running.get());
        Ok(format!(
            r#"{{"running":{running},"has_position":{has_position},"completed_at_ms":{completed_at},"last_run":{last_run}}}"#
        ))
    }

    fn row(&self, query: &str) -> Result<Vec<SqlStorageValue>> {
        self.sql
            .exec(query, None)?
            .raw()
            .next()
            .unwrap_or_else(|| Err("the row of the position is missing".into()))
    }
}

/// A run on its way.
struct Run<'r> {
    object: &'r Reconciliation,
    position: Option<String>,
    counts: Counts,
    pause_seconds: u32,
}

/// Why a run ends early, and the status of the API that says so.
type Failed = (Trouble, Option<u16>);

impl Run<'_> {
    async fn catch_up(&mut self, api: &Api) -> Result<Outcome, Failed> {
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
            let first =
                inbox::claim_all(&self.object.env, *shard, events).await.map_err(|error| storage(&error))?;
            counts.first += first;
            counts.duplicates += (events.len() as u32).saturating_sub(first);
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

/// A number as the runtime gives it; anything else is 0.
fn number(value: &SqlStorageValue) -> i64 {
    match value {
        SqlStorageValue::Integer(number) => *number,
        _ => 0,
    }
}
