//! `authority config`: every setting with its value, default and unit, where the value comes from, and whether a
//! running service takes a new one at SIGHUP. `authority config check` does what `serve` does first as well.
//!
//! `check` reads the same variables as `serve` and refuses what it refuses, with the same line and exit code 2. Without
//! `check`, a value is printed as it was found, right or wrong; only what cannot be read at all is refused. Secrets are
//! shown as `set`. A variable that nothing reads is named on standard error; `serve` only warns of it, too. One that is
//! nearly a setting's is named there as well without `check`, which refuses it. The database is not opened: whether it
//! answers is a question for `authority doctor`.

use super::manage::table;
use super::{Exit, Failure, Process, args};
use crate::config::{Config, Logging, Setting, settings, unread_variables};
use crate::service::check_files;

/// Prints the configuration, and checks it before if that was asked.
pub(super) fn run(command: &args::ConfigCommand, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let unread = unread_variables(process.variables);
    let unread =
        unread.map(|names| names.iter().map(|name| format!("nothing reads {name}")).collect::<Vec<_>>());
    let (list, notes) = match &command.action {
        None => (&command.list, unread.unwrap_or_else(|misspelt| vec![misspelt.to_string()])),
        Some(args::ConfigAction::Check(list)) => {
            let notes = unread?;
            Logging::read(process.environment)?;
            check_files(&Config::read(process.environment)?)?;
            (list, notes)
        }
    };
    let settings = settings(process.environment)?;
    if list.json {
        for setting in &settings {
            process.json(setting)?;
        }
    } else {
        let headings = ["name", "value", "source", "unit", "reload", "default"].map(table::heading).to_vec();
        let rows: Vec<Vec<String>> = [headings].into_iter().chain(settings.iter().map(row)).collect();
        process.stdout.write_all(table::aligned(&rows, process.colour).as_bytes())?;
    }
    process.stdout.flush()?;
    for note in notes {
        let note = super::plain(&note);
        writeln!(process.stderr, "authority: {note}")?;
    }
    Ok(Exit::Done)
}

fn row(setting: &Setting) -> Vec<String> {
    let or_dash = |text: Option<&str>| super::plain(text.unwrap_or("-"));
    vec![
        setting.name.to_owned(),
        or_dash(setting.value.as_deref()),
        setting.source.as_str().to_owned(),
        or_dash(setting.unit),
        if setting.reloaded { "SIGHUP" } else { "start" }.to_owned(),
        or_dash(setting.default),
    ]
}
