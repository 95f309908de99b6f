//! The variables of the Worker, turned into a verifier.
//!
//! Read for every request: a Worker has no start of its own, and a changed secret has to count at once. An
//! unusable secret is not refused here, because verification has a code for it (contract 10.2); every other
//! mistake names its variable for the log and never shows the value.

use verify_core::verify::{Tolerance, Verifier};
use worker::Env;

use crate::binding::{self, NotText};

/// The secret that deliveries are signed with.
pub const SIGNING_SECRET: &str = "SIGNING_SECRET";
/// The secret that was in use before, trusted until it is removed.
pub const SIGNING_SECRET_PREVIOUS: &str = "SIGNING_SECRET_PREVIOUS";
/// How many seconds a delivery's timestamp may be away from now, 1 to 3600; 300 when it is not set.
pub const TOLERANCE_SECONDS: &str = "TOLERANCE_SECONDS";

/// A variable has a value that cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidVariable(pub &'static str);

/// The verifier that the Worker's variables ask for.
pub(crate) fn verifier(env: &Env) -> Result<Verifier, InvalidVariable> {
    let mut secrets = Vec::with_capacity(2);
    for name in [SIGNING_SECRET, SIGNING_SECRET_PREVIOUS] {
        secrets.extend(variable(env, name)?);
    }
    let tolerance = tolerance(variable(env, TOLERANCE_SECONDS)?.as_deref())?;
    // Two secrets are within the limit; the only error that is left would be about their number.
    Verifier::new(&secrets, tolerance).map_err(|_| InvalidVariable(SIGNING_SECRET))
}

/// The tolerance that [`TOLERANCE_SECONDS`] sets (contract 10.1).
///
/// # Errors
/// [`InvalidVariable`] unless the text is a whole number from 1 to 3600.
pub fn tolerance(text: Option<&str>) -> Result<Tolerance, InvalidVariable> {
    let Some(text) = text else {
        return Ok(Tolerance::DEFAULT);
    };
    let seconds = text.parse().map_err(|_| InvalidVariable(TOLERANCE_SECONDS))?;
    Tolerance::new(seconds).map_err(|_| InvalidVariable(TOLERANCE_SECONDS))
}

fn variable(env: &Env, name: &'static str) -> Result<Option<String>, InvalidVariable> {
    binding::text(env, name).map_err(|NotText| InvalidVariable(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances() {
        for accepted in [None, Some("1"), Some("300"), Some("3600")] {
            assert!(tolerance(accepted).is_ok(), "{accepted:?}");
        }
        for refused in ["", "0", "-1", "3601", "300.0", "5m", " 300", "99999999999999999999"] {
            assert_eq!(
                tolerance(Some(refused)).err(),
                Some(InvalidVariable("TOLERANCE_SECONDS")),
                "{refused:?}"
            );
        }
    }
}
