//! Signing secrets for `sign`, `verify` and `listen`: taken from the environment variables that an option names.

use std::ffi::OsString;

use verify_core::secret;
use zeroize::Zeroizing;

use super::Failure;
use crate::config::Lookup;

/// A secret and the variable it came from.
pub(super) struct NamedSecret {
    pub(super) variable: String,
    pub(super) text: Zeroizing<String>,
}

/// The secrets in the variables that `option` names, in order. The caller checks whether they are usable.
pub(super) fn from_environment(
    option: &str,
    variables: Vec<OsString>,
    environment: Lookup<'_>,
) -> Result<Vec<NamedSecret>, Failure> {
    variables.into_iter().map(|variable| named_secret(option, &variable, environment)).collect()
}

fn named_secret(option: &str, variable: &OsString, environment: Lookup<'_>) -> Result<NamedSecret, Failure> {
    let usage = |problem: &str| Failure::Usage(format!("{option} {problem}"));
    let name = variable.to_str().filter(|name| is_variable_name(name));
    let Some(name) = name.filter(|name| !name.starts_with(secret::PREFIX)) else {
        // The value may be the secret itself, so the message does not repeat it.
        return Err(usage("takes the name of an environment variable, never the secret"));
    };
    let value = environment(name).ok_or_else(|| usage(&format!("names {name}, which is not set")))?;
    let text = value.into_string().map_err(|_| usage(&format!("names {name}, which is not UTF-8 text")))?;
    Ok(NamedSecret { variable: name.to_owned(), text: Zeroizing::new(text) })
}

/// POSIX 8.1: letters, digits and underscores, no digit first.
fn is_variable_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
