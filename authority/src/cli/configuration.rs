//! `authority config check`: does what `serve` does first, without starting anything, and shows what it found.
//!
//! It reads the same variables and refuses what `serve` refuses, with the same line and exit code 2. Otherwise it
//! prints every setting with its value and its source. Secrets are shown as `set`. A variable that nothing reads is
//! named on standard error; `serve` only warns of it, too. Nothing is opened: whether the database answers is a
//! question for `authority doctor`.

use super::manage::table;
use super::{Exit, Failure, Process, args};
use crate::config::{Config, Logging, Setting, settings, unread_variables};

/// Checks the configuration and prints it.
pub(super) fn run(command: &args::ConfigCommand, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let args::ConfigAction::Check(check) = &command.action;
    let unread = unread_variables(process.variables)?;
    Logging::read(process.environment)?;
    Config::read(process.environment)?;
    let settings = settings(process.environment)?;
    if check.json {
        for setting in &settings {
            let line = serde_json::to_string(setting).map_err(|error| Failure::Failed(error.to_string()))?;
            writeln!(process.stdout, "{line}")?;
        }
    } else {
        let headings = ["name", "value", "source"].map(table::heading).to_vec();
        let rows: Vec<Vec<String>> = [headings].into_iter().chain(settings.iter().map(row)).collect();
        process.stdout.write_all(table::aligned(&rows, process.colour).as_bytes())?;
    }
    process.stdout.flush()?;
    for variable in unread {
        let variable: String = variable.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        writeln!(process.stderr, "authority: nothing reads {variable}")?;
    }
    Ok(Exit::Done)
}

fn row(setting: &Setting) -> Vec<String> {
    let value = setting.value.as_deref().unwrap_or("-");
    let value = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    vec![setting.name.to_owned(), value, setting.source.as_str().to_owned()]
}
