//! What a reload found changed: the values of all variables, then and now.

use super::settings::{SETTINGS, Variable};
use super::sources::given;
use super::variables::{ConfigError, Lookup};

/// The values that a running service was started or last reloaded with. They may be secrets; nothing shows them.
pub struct Snapshot(Vec<Option<String>>);

impl Snapshot {
    /// Reads all of them.
    ///
    /// # Errors
    /// [`ConfigError`] when a value cannot be read ([`given`]).
    pub fn read(lookup: Lookup<'_>) -> Result<Self, ConfigError> {
        let values = SETTINGS.iter().map(|variable| Ok(given(lookup, variable.name)?.map(|(text, _)| text)));
        values.collect::<Result<_, _>>().map(Self)
    }

    /// Takes the newer values of what a reload changes. The others keep the values that the service was started with.
    pub fn take(&mut self, newer: Self) {
        for (variable, (value, newer)) in SETTINGS.iter().zip(self.0.iter_mut().zip(newer.0)) {
            if variable.reloaded {
                *value = newer;
            }
        }
    }

    /// The names of the variables that have another value in `newer`.
    #[must_use]
    pub fn changed(&self, newer: &Self) -> Changed {
        let pairs = SETTINGS.iter().zip(self.0.iter().zip(&newer.0));
        let (reloaded, waiting): (Vec<_>, Vec<_>) = pairs
            .filter(|(_, (old, new))| old != new)
            .map(|(variable, _)| variable)
            .partition(|variable| variable.reloaded);
        let names = |variables: Vec<&Variable>| variables.iter().map(|variable| variable.name).collect();
        Changed { reloaded: names(reloaded), at_next_start: names(waiting) }
    }
}

/// What a reload found changed, by name.
#[derive(Debug, PartialEq, Eq)]
pub struct Changed {
    /// A running service takes these.
    pub reloaded: Vec<&'static str>,
    /// These apply after the next start.
    pub at_next_start: Vec<&'static str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reload_tells_what_changed() {
        let given = |pairs: &[(&str, &str)]| {
            let value =
                |asked: &str| pairs.iter().find(|(name, _)| *name == asked).map(|(_, value)| value.into());
            Snapshot::read(&value).unwrap()
        };
        let before = given(&[("AUTHORITY_LOG", "info"), ("AUTHORITY_LISTEN", "127.0.0.1:1")]);
        let after = given(&[("AUTHORITY_LOG", "debug"), ("AUTHORITY_SANDBOX", "off")]);
        let none = Changed { reloaded: vec![], at_next_start: vec![] };
        assert_eq!(before.changed(&before), none);
        let at_next_start = vec!["AUTHORITY_LISTEN", "AUTHORITY_SANDBOX"];
        assert_eq!(before.changed(&after), Changed { reloaded: vec!["AUTHORITY_LOG"], at_next_start });
    }
}
