//! One line for wrong arguments. `clap` itself would print a paragraph and repeat what was typed.
//!
//! The line names the flag and never a value: a secret that was given as an argument by mistake must not appear in a
//! build log. What was probably meant, and the values that an option takes, are names of the program's own.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The message line for `error`.
pub(super) fn line(error: &clap::Error) -> String {
    let named = named_arguments(error);
    match error.kind() {
        ErrorKind::UnknownArgument => match named.as_deref() {
            Some(flag) if flag.starts_with('-') => {
                let likely = likely(error, ContextKind::SuggestedArg);
                format!("{} is not an option here{likely}", without_value(flag))
            }
            _ => "unexpected argument: everything is given by options, and secrets by the environment"
                .to_owned(),
        },
        ErrorKind::MissingRequiredArgument => {
            format!("{} is missing", named.unwrap_or_else(|| "an option".to_owned()))
        }
        ErrorKind::ArgumentConflict => match (named, context(error, ContextKind::PriorArg)) {
            (Some(flag), Some(other)) if flag == other => format!("{flag} is given more than once"),
            (Some(flag), Some(other)) => format!("{flag} cannot be used with {other}"),
            _ => "options that exclude each other".to_owned(),
        },
        ErrorKind::InvalidSubcommand => match likely(error, ContextKind::SuggestedSubcommand) {
            likely if likely.is_empty() => "no such command: see authority --help".to_owned(),
            likely => format!("no such command{likely}"),
        },
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "a command is missing: see authority --help".to_owned()
        }
        _ => {
            let named = named.unwrap_or_else(|| "an option".to_owned());
            match context(error, ContextKind::ValidValue) {
                Some(values) if !values.is_empty() => format!("{named} must be one of {values}"),
                _ => format!("{named} has no usable value"),
            }
        }
    }
}

fn named_arguments(error: &clap::Error) -> Option<String> {
    context(error, ContextKind::InvalidArg)
}

/// The question whether the nearest known name is meant; empty when none is near.
fn likely(error: &clap::Error, kind: ContextKind) -> String {
    let suggested = context(error, kind);
    // The nearest stands last.
    let nearest =
        suggested.as_deref().and_then(|names| names.rsplit(", ").next()).filter(|name| !name.is_empty());
    nearest.map(|name| format!(": is {name} meant?")).unwrap_or_default()
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(", ")),
        _ => None,
    }
}

/// The `--flag` part of `--flag=value`.
fn without_value(flag: &str) -> &str {
    flag.split_once('=').map_or(flag, |(name, _)| name)
}
