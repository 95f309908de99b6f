//! One line for wrong arguments. `clap` itself would print a paragraph and repeat what was typed.
//!
//! The line names the flag and never a value: a secret that was given as an argument by mistake must not appear in a
//! build log.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The message line for `error`.
pub(super) fn line(error: &clap::Error) -> String {
    let named = named_arguments(error);
    match error.kind() {
        ErrorKind::UnknownArgument => match named.as_deref() {
            Some(flag) if flag.starts_with('-') => format!("{} is not an option here", without_value(flag)),
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
        ErrorKind::InvalidSubcommand => "no such command: see authority --help".to_owned(),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "a command is missing: see authority --help".to_owned()
        }
        _ => format!("{} has no usable value", named.unwrap_or_else(|| "an option".to_owned())),
    }
}

fn named_arguments(error: &clap::Error) -> Option<String> {
    context(error, ContextKind::InvalidArg)
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
