//! `authority events tail`: prints a stream as it is committed, read directly from the database.
//!
//! The command relies on a poll once a second (contract 12 T5). No event is missed between two polls, because sequence
//! numbers have no gaps.

use std::time::Duration;

use authority_domain::tenant::Tenant;
use serde_json::Value;

use super::args::{Events, EventsAction, EventsTail, ModeName};
use super::{PAGE, named_merchant, read, refused, shown, with_config};
use crate::app::App;
use crate::cli::serve::Signals;
use crate::cli::{Exit, Failure, Process};
use crate::config::Config;

const POLL: Duration = Duration::from_secs(1);

pub(in crate::cli) fn run(command: Events, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let EventsAction::Tail(tail) = command.action;
    if tail.from == Some(0) {
        return Err(Failure::Usage("--from must be a sequence: 1 is the first event".to_owned()));
    }
    let config = Config::read(process.environment)?;
    let stdout = &mut *process.stdout;
    let mut print = |event: &str| -> Result<(), Failure> {
        writeln!(stdout, "{}", if tail.json { event.to_owned() } else { line(event)? })?;
        stdout.flush()?;
        Ok(())
    };
    with_config(&config, async |app| follow(app, &tail, &mut print).await)?;
    Ok(Exit::Done)
}

async fn follow(
    app: &App,
    tail: &EventsTail,
    print: &mut impl FnMut(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let merchant_id = named_merchant(app, &tail.merchant).await?;
    let tenant = Tenant { merchant_id, livemode: tail.mode == ModeName::Live };
    let mut signals = Signals::listen()?;
    let mut after = match tail.from {
        Some(from) => i64::from(from) - 1,
        None => app.stream_end(&tenant).await.map_err(refused)?,
    };
    loop {
        let page = app.events_after(&tenant, after, i64::from(PAGE)).await.map_err(refused)?;
        // A page may be short because of its size limit; only an empty page means that there are no more events.
        let goes_on = !page.is_empty();
        for (sequence, event) in page {
            print(&event)?;
            after = sequence;
        }
        if goes_on {
            continue;
        }
        if tail.once {
            return Ok(());
        }
        tokio::select! {
            () = tokio::time::sleep(POLL) => {}
            () = signals.next() => return Ok(()),
        }
    }
}

/// One line for an event: sequence, time, name, record and version.
fn line(event: &str) -> Result<String, Failure> {
    let event: Value = read(event)?;
    let id = event.pointer("/data/object/id").or_else(|| event.pointer("/data/object/order_number"));
    let member = |name: &str| shown(event.get(name));
    let [sequence, created_at, name] = ["sequence", "created_at", "type"].map(member);
    Ok([sequence, created_at, name, shown(id), member("resource_version")].join("  "))
}
