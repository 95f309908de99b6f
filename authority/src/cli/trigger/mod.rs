//! `authority trigger TYPE`: produces an event of a catalog type in test mode, by the shortest legal path, and prints
//! its id (contract 16).
//!
//! It calls a running authority with a test key: the sandbox for what a platform, a processor or a carrier would
//! report, the merchant API for what the merchant does. `--set` changes what the calls send ([`changes`]), `--from`
//! runs a file of several steps ([`story`]). The key comes from the environment, never as an argument.

mod calls;
mod changes;
mod paths;
mod story;

use std::fs;

use serde_json::{Value, json};
use verify_core::catalog::EventType;

use super::caller::{address, test_key};
use super::serve::block_on;
use super::{Exit, Failure, Process, args, plain};
use crate::dev::client::Http;
use crate::dice::{Dice as _, SystemDice};
use calls::Calls;
use changes::Changes;
use paths::Stage;
pub(super) use paths::Unproduced;
use story::{Answers, Step};

/// Produces the event and prints its id, or runs the story.
pub(super) fn run(command: &args::Trigger, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let steps = match (&command.from, &command.event_type) {
        (Some(file), _) => {
            let text = fs::read_to_string(file);
            let text = text.map_err(|error| Failure::Usage(format!("--from cannot be read: {error}")))?;
            story::parse(&text).map_err(|reason| Failure::Usage(format!("--from {reason}")))?
        }
        (None, name) => {
            let event = event_type(name.as_deref().unwrap_or_default())?;
            let changes = Changes::parse(&command.set, event);
            vec![Step::Trigger(event, changes.map_err(|error| Failure::Usage(error.to_string()))?)]
        }
    };
    let key = test_key(process.environment)?;
    let url = address(command.url.as_deref(), process.environment)?;
    let http = Http::new().map_err(Failure::failed)?;
    let calls = Calls::new(&http, &url, &key, run_name());
    let numbered = command.from.is_some();
    let mut report = Report { process, json: command.json, numbered };
    block_on(async {
        let mut answers = Answers::default();
        for (index, step) in steps.into_iter().enumerate() {
            let number = index + 1;
            let done = play(&calls, step, &mut answers).await;
            let done = done.map_err(|failure| if numbered { at_step(number, failure) } else { failure })?;
            report.done(number, &done)?;
        }
        Ok(Exit::Done)
    })
}

/// Produces the event at the authority at `url` with a test key, and returns the event's id.
///
/// # Errors
/// [`Unproduced`].
pub(super) async fn produce(
    http: &Http,
    url: &str,
    key: &str,
    event_type: EventType,
) -> Result<String, Unproduced> {
    let calls = Calls::new(http, url, key, run_name());
    Stage::new(&calls, Changes::default()).produce(event_type).await
}

/// What a step did, and the id of the event or record.
struct Done {
    what: String,
    event: bool,
    id: Option<String>,
}

async fn play(calls: &Calls, step: Step, answers: &mut Answers) -> Result<Done, Failure> {
    match step {
        Step::Trigger(event, changes) => {
            let id = Stage::new(calls, changes).produce(event).await.map_err(|error| match error {
                Unproduced::Change(error) => Failure::Usage(error.to_string()),
                other => Failure::failed(other),
            })?;
            Ok(Done { what: event.as_str().to_owned(), event: true, id: Some(id) })
        }
        Step::Write { method, path, body, name } => {
            let (path, body) = answers.fill(&path, &body).map_err(Failure::Usage)?;
            let answer = calls.send(&method, &path, &body).await.map_err(Failure::failed)?;
            let member = |name: &str| answer.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
            let id = member("id").or_else(|| member("order_number"));
            if let Some(name) = name {
                answers.keep(&name, answer);
            }
            Ok(Done { what: format!("{method} {path}"), event: false, id })
        }
    }
}

fn at_step(number: usize, failure: Failure) -> Failure {
    match failure {
        Failure::Failed(line) => Failure::Failed(format!("step {number}: {line}")),
        Failure::Usage(line) => Failure::Usage(format!("step {number}: {line}")),
        other @ (Failure::Database(_) | Failure::ReaderGone) => other,
    }
}

/// Standard output: the id of an event alone, or a line for each step of a story.
struct Report<'r, 'p> {
    process: &'r mut Process<'p>,
    json: bool,
    numbered: bool,
}

impl Report<'_, '_> {
    fn done(&mut self, number: usize, done: &Done) -> Result<(), Failure> {
        let Done { what, event, id } = done;
        let mut line = json!({ "id": id, if *event { "type" } else { "call" }: what });
        if let (true, Some(line)) = (self.numbered, line.as_object_mut()) {
            line.insert("step".to_owned(), json!(number));
        }
        let (what, id) = (plain(what), plain(id.as_deref().unwrap_or("-")));
        match (self.json, self.numbered) {
            (true, _) => writeln!(self.process.stdout, "{line}")?,
            (false, true) => writeln!(self.process.stdout, "{number}  {what}  {id}")?,
            (false, false) => writeln!(self.process.stdout, "{id}")?,
        }
        Ok(self.process.stdout.flush()?)
    }
}

fn event_type(name: &str) -> Result<EventType, Failure> {
    EventType::parse(name).ok_or_else(|| {
        let names: Vec<&str> = EventType::ALL.iter().map(|event| event.as_str()).collect();
        Failure::Usage(format!("TYPE: must be one of {}", names.join(", ")))
    })
}

/// The prefix of this run's idempotency keys.
fn run_name() -> String {
    let mut random = [0; 16];
    SystemDice.fill(&mut random);
    hex::encode(random)
}
