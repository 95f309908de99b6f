//! The object that runs the loop and keeps the position; the order of the steps is told above.

use std::cell::Cell;

use worker::{
    DurableObject, Env, Request, Response, Result, ScheduleContext, ScheduledEvent, SqlStorage,
    SqlStorageValue, State, console_error, console_log, durable_object, event, wasm_bindgen,
};

use super::api::{API_BASE, API_KEY, Api};
use super::position;
use super::report::{Outcome, Report};
use super::run::Run;
use super::trouble::Trouble;
use crate::configuration::{DEDUP, Dedup, InvalidVariable};
use crate::{clock, runtime, settings};

/// Name of the Durable Object namespace's binding.
const BINDING: &str = "RECONCILIATION";
/// The one object of its class.
const NAME: &str = "reconciliation";
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
    let variable = |name| settings::variable(env, name);
    let api = Api::new(variable(API_BASE)?.as_deref(), variable(API_KEY)?.as_deref())?;
    if api.is_some() {
        settings::retention_seconds(env)?;
        if settings::dedup(env)? == Dedup::Kv {
            return Err(InvalidVariable(DEDUP));
        }
    }
    Ok(api)
}

/// The object.
#[durable_object(fetch)]
pub struct Reconciliation {
    pub(super) sql: SqlStorage,
    pub(super) env: Env,
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
        let mut run = Run::new(self, position);
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

/// A number as the runtime gives it; anything else is 0.
fn number(value: &SqlStorageValue) -> i64 {
    match value {
        SqlStorageValue::Integer(number) => *number,
        _ => 0,
    }
}
