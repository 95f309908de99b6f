//! The names of the variables, and the refusal of a misspelt one.
//!
//! A misspelt variable would leave its setting at the default without a word. So `serve` looks at every variable whose
//! name begins with `AUTHORITY_` and that it does not know. It refuses one that is nearly the name of a variable, and
//! says which. It warns of any other: a deployment may have variables of its own with this beginning.
//!
//! Kubernetes sets variables that begin with a Service's name: `AUTHORITY_SERVICE_HOST`, `AUTHORITY_PORT_8080_TCP` and
//! more in every pod beside a Service called `authority`. Nobody wrote these, so they are not refused.

use std::ffi::OsString;

use strsim::damerau_levenshtein;

use super::settings::SETTINGS;
use super::sources::FILE;
use super::variables::ConfigError;

const PREFIX: &str = "AUTHORITY_";

/// The variables besides those of the service.
const OTHERS: &[&str] = &[
    // Read by `trigger` and `listen`.
    "AUTHORITY_API_KEY",
    // Names the program in the project's own tests; they pass their environment on.
    "AUTHORITY_BINARY",
];

/// All variables of the service, of the commands, and of the project's own tests, which start the service. Each can be
/// given by a file.
fn known() -> impl Iterator<Item = String> {
    let names = SETTINGS.iter().map(|variable| variable.name).chain(OTHERS.iter().copied());
    names.flat_map(|name| [name.to_owned(), format!("{name}{FILE}")])
}

/// The variables of this program's form that nothing reads. `set` are the names of the variables in the environment.
///
/// # Errors
/// [`ConfigError::Misspelt`] for the first name, in alphabetical order, that is nearly that of a variable.
pub fn unread_variables(set: &[OsString]) -> Result<Vec<String>, ConfigError> {
    let mut own: Vec<String> = set.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    own.retain(|name| name.starts_with(PREFIX));
    own.sort_unstable();
    let services: Vec<String> =
        own.iter().filter_map(|name| Some(name.strip_suffix("_SERVICE_HOST")?.to_owned())).collect();
    let by_kubernetes = |name: &str| services.iter().any(|service| describes_service(name, service));
    let unread: Vec<String> =
        own.iter().filter(|name| !is_known(name) && !by_kubernetes(name)).cloned().collect();
    match unread.iter().find_map(|name| Some((name, likely(name)?))) {
        Some((variable, likely)) => Err(ConfigError::Misspelt { variable: variable.clone(), likely }),
        None => Ok(unread),
    }
}

/// Whether Kubernetes sets the variable for a Service whose variables begin with `service`.
fn describes_service(name: &str, service: &str) -> bool {
    let Some(rest) = name.strip_prefix(service) else { return false };
    rest == "_PORT" || rest.starts_with("_PORT_") || rest.starts_with("_SERVICE_")
}

/// The known variable that was probably meant: the nearest, unless more than a quarter of its own part differs.
fn likely(variable: &str) -> Option<String> {
    let own = |name: &str| name.len().saturating_sub(PREFIX.len());
    let near = known().map(|known| (damerau_levenshtein(variable, &known), known));
    let (distance, nearest) = near.min_by_key(|(distance, _)| *distance)?;
    (distance * 4 <= own(&nearest)).then_some(nearest)
}

pub(super) fn is_known(name: &str) -> bool {
    known().any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(names: &[&str]) -> Option<String> {
        let names: Vec<OsString> = names.iter().map(Into::into).collect();
        unread_variables(&names).err().map(|error| error.to_string())
    }

    fn unread(names: &[&str]) -> Vec<String> {
        unread_variables(&names.iter().map(Into::into).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_misspelt_variable_is_refused_with_the_likely_one() {
        for (misspelt, meant) in [
            ("AUTHORITY_DATABSE_URL", "AUTHORITY_DATABASE_URL"),
            ("AUTHORITY_LISTNE", "AUTHORITY_LISTEN"),
            ("AUTHORITY_SECRET_KEY", "AUTHORITY_SECRET_KEK"),
            ("AUTHORITY_RATE_LIMIT", "AUTHORITY_RATE_LIMITS"),
            ("AUTHORITY_SECRET_KEK_FIEL", "AUTHORITY_SECRET_KEK_FILE"),
        ] {
            let line = format!("{misspelt} is not a variable of this program: is {meant} meant?");
            assert_eq!(refused(&["AUTHORITY_LISTEN", misspelt]), Some(line));
        }
    }

    #[test]
    fn a_variable_like_no_other_is_named_and_not_refused() {
        for name in ["AUTHORITY_COLOUR", "AUTHORITY_DATABASE", "AUTHORITY_"] {
            assert_eq!(unread(&["AUTHORITY_LISTEN", name]), [name]);
        }
    }

    #[test]
    fn other_variables_are_none_of_our_business() {
        assert_eq!(unread(&["PATH", "AUTHORITIES", "MY_AUTHORITY_LISTNE", "AUTHORITY"]), [""; 0]);
        let known: Vec<String> = known().collect();
        assert_eq!(unread(&known.iter().map(String::as_str).collect::<Vec<_>>()), [""; 0]);
    }

    #[test]
    fn what_kubernetes_sets_is_expected() {
        let service = [
            "AUTHORITY_SERVICE_HOST",
            "AUTHORITY_SERVICE_PORT",
            "AUTHORITY_SERVICE_PORT_HTTP",
            "AUTHORITY_PORT",
            "AUTHORITY_PORT_8080_TCP",
            "AUTHORITY_PORT_8080_TCP_ADDR",
            "AUTHORITY_OPERATOR_SERVICE_HOST",
            "AUTHORITY_OPERATOR_PORT",
        ];
        assert_eq!(unread(&service), [""; 0]);
        assert_eq!(unread(&["AUTHORITY_PORT"]), ["AUTHORITY_PORT"], "without a Service somebody wrote it");
        assert_eq!(unread(&["AUTHORITY_SERVICE_HOST", "AUTHORITY_PORTS"]), ["AUTHORITY_PORTS"]);
    }
}
