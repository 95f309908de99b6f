//! `authority events tail`: prints a stream as it is committed, read directly from the database.
//!
//! The command relies on a poll once a second (contract 12 T5). No event is missed between two polls, because sequence
//! numbers have no gaps.

use std::time::Duration;

use authority_domain::{Tenant, Timestamp};
use serde_json::Value;

use super::args::{Events, EventsTail, ModeName};
use super::{PAGE, last_records, named_merchant, read, refused, shown, table, with_config};
use crate::app::App;
use crate::cli::serve::Signals;
use crate::cli::style::ago;
use crate::cli::{Exit, Failure, Process};
use crate::config::Config;

const POLL: Duration = Duration::from_secs(1);

/// The columns with their widths: times, names and ids fit.
const COLUMNS: [(&str, usize); 5] =
    [("sequence", 8), ("when", 10), ("type", 26), ("record", 30), ("version", 7)];

pub(in crate::cli) fn run(command: Events, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let Events::Tail(tail) = command;
    if tail.from == Some(0) {
        return Err(Failure::Usage("--from must be a sequence: 1 is the first event".to_owned()));
    }
    let last = last_records(tail.last)?;
    let config = Config::read(process.environment)?;
    let colour = process.colour;
    let stdout = &mut *process.stdout;
    if !tail.json {
        writeln!(stdout, "{}", table::headings(&COLUMNS, colour))?;
        stdout.flush()?;
    }
    let mut print = |event: &str, now| -> Result<(), Failure> {
        writeln!(stdout, "{}", if tail.json { event.to_owned() } else { line(event, now, colour)? })?;
        stdout.flush()?;
        Ok(())
    };
    with_config(&config, async |app| follow(app, &tail, last, &mut print).await)?;
    Ok(Exit::Done)
}

async fn follow(
    app: &App,
    tail: &EventsTail,
    last: u8,
    print: &mut impl FnMut(&str, Timestamp) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let merchant_id = named_merchant(app, &tail.merchant).await?;
    let tenant = Tenant { merchant_id, livemode: tail.mode == ModeName::Live };
    let mut signals = Signals::listen()?;
    let mut after = match tail.from {
        Some(from) => i64::from(from) - 1,
        None => app.stream_end(&tenant).await.map_err(refused)?.saturating_sub(last.into()).max(0),
    };
    loop {
        let page = app.events_after(&tenant, after, i64::from(PAGE)).await.map_err(refused)?;
        // A page may be short because of its size limit; only an empty page means that there are no more events.
        let goes_on = !page.is_empty();
        for (sequence, event) in page {
            print(&event, app.now())?;
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
fn line(event: &str, now: Timestamp, colour: bool) -> Result<String, Failure> {
    let event: Value = read(event)?;
    let id = event.pointer("/data/object/id").or_else(|| event.pointer("/data/object/order_number"));
    let member = |name: &str| shown(event.get(name));
    let when = Timestamp::parse(&member("created_at")).map_or_else(|| "-".to_owned(), |then| ago(then, now));
    let cells = [member("sequence"), when, member("type"), shown(id), member("resource_version")];
    Ok(table::row(&COLUMNS, &cells.map(|text| (text, None)), colour))
}
