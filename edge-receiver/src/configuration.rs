//! What the variables of the Worker may say (`settings` reads them).
//!
//! An unusable secret is not refused here, because verification has a code for it (contract 10.2); every other mistake
//! names its variable for the log and never shows the value.

use verify_core::Profile;
use verify_core::verify::Tolerance;

/// The secret that deliveries are signed with.
pub const SIGNING_SECRET: &str = "SIGNING_SECRET";
/// The secret that was in use before, trusted until it is removed.
pub const SIGNING_SECRET_PREVIOUS: &str = "SIGNING_SECRET_PREVIOUS";
/// By which headers deliveries are verified: `service` (when it is not set) or `standard-webhooks`.
pub const SIGNATURE_PROFILE: &str = "SIGNATURE_PROFILE";
/// How many seconds a delivery's timestamp may be away from now, 1 to 3600; 300 when it is not set.
pub const TOLERANCE_SECONDS: &str = "TOLERANCE_SECONDS";
/// The path that takes deliveries; `/webhooks` when it is not set.
pub const WEBHOOK_PATH: &str = "WEBHOOK_PATH";
/// How many days claims are kept, 90 to 3650; 90 when it is not set.
pub const RETENTION_DAYS: &str = "RETENTION_DAYS";
/// Who decides between first and duplicate: `inbox` (when it is not set) or `kv`.
pub const DEDUP: &str = "DEDUP";

const PATH_DEFAULT: &str = "/webhooks";
const PATH_MAX: usize = 256;
/// The fewest days that contract 11.2 allows: events can be replayed for at least as long.
const RETENTION_DAYS_MIN: u32 = 90;
const RETENTION_DAYS_MAX: u32 = 3650;

/// A variable has a value that cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidVariable(pub &'static str);

/// Who decides between first and duplicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dedup {
    /// The durable inbox: exactly one is the first.
    Inbox,
    /// Workers KV alone: best effort, for accounts without Durable Objects.
    Kv,
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

/// The profile that [`SIGNATURE_PROFILE`] sets (contract 15.12).
///
/// # Errors
/// [`InvalidVariable`] for any other word than `service` and `standard-webhooks`.
pub fn profile(text: Option<&str>) -> Result<Profile, InvalidVariable> {
    text.map_or(Some(Profile::Service), Profile::from_str).ok_or(InvalidVariable(SIGNATURE_PROFILE))
}

/// The path that [`WEBHOOK_PATH`] sets.
///
/// # Errors
/// [`InvalidVariable`] unless it is a path as a request line has it, without a query, of at most 256 characters, and
/// none that this Worker uses for something else (`/health`, `/events/…`, `/reconciliation/…`).
pub fn path(text: Option<String>) -> Result<String, InvalidVariable> {
    let Some(text) = text else {
        return Ok(PATH_DEFAULT.to_owned());
    };
    let is_path = text.starts_with('/')
        && text.len() <= PATH_MAX
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#' | b'\\'));
    let is_taken = text == "/health" || text.starts_with("/events/") || text.starts_with("/reconciliation/");
    if is_path && !is_taken { Ok(text) } else { Err(InvalidVariable(WEBHOOK_PATH)) }
}

/// The days that [`RETENTION_DAYS`] sets.
///
/// # Errors
/// [`InvalidVariable`] unless the text is a whole number from 90 to 3650.
pub fn retention_days(text: Option<&str>) -> Result<u32, InvalidVariable> {
    let days = text
        .map_or(Ok(RETENTION_DAYS_MIN), |text| text.parse().map_err(|_| InvalidVariable(RETENTION_DAYS)))?;
    if (RETENTION_DAYS_MIN..=RETENTION_DAYS_MAX).contains(&days) {
        Ok(days)
    } else {
        Err(InvalidVariable(RETENTION_DAYS))
    }
}

/// Who decides, as [`DEDUP`] says.
///
/// # Errors
/// [`InvalidVariable`] for any other word than `inbox` and `kv`.
pub fn deciding(text: Option<&str>) -> Result<Dedup, InvalidVariable> {
    match text {
        None | Some("inbox") => Ok(Dedup::Inbox),
        Some("kv") => Ok(Dedup::Kv),
        Some(_) => Err(InvalidVariable(DEDUP)),
    }
}

/// Unix milliseconds that the variables `ENVIRONMENT` and `TEST_NOW` set the clock to; `None` leaves it alone.
#[must_use]
pub fn fixed_ms(environment: Option<&str>, test_now: Option<&str>) -> Option<i64> {
    if environment != Some("test") {
        return None;
    }
    test_now?.parse().ok().filter(|seconds: &i64| *seconds >= 0)?.checked_mul(1000)
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

    #[test]
    fn profiles() {
        for (text, expected) in [
            (None, Profile::Service),
            (Some("service"), Profile::Service),
            (Some("standard-webhooks"), Profile::StandardWebhooks),
        ] {
            assert_eq!(profile(text), Ok(expected));
        }
        for refused in ["", "Service", "standard_webhooks", " standard-webhooks"] {
            assert_eq!(profile(Some(refused)), Err(InvalidVariable("SIGNATURE_PROFILE")), "{refused:?}");
        }
    }

    #[test]
    fn paths() {
        assert_eq!(path(None), Ok("/webhooks".to_owned()));
        for accepted in ["/", "/hooks/a-b_c.d", "/eventss", "/healthy", "/events", "/%C3%A9"] {
            assert_eq!(path(Some(accepted.to_owned())), Ok(accepted.to_owned()));
        }
        let long = format!("/{}", "a".repeat(256));
        for refused in [
            "",
            "webhooks",
            "/a?b",
            "/a#b",
            "/a b",
            "/\u{e9}",
            "/a\\b",
            "/a\n",
            "/health",
            "/events/x",
            &long,
        ] {
            assert_eq!(path(Some(refused.to_owned())), Err(InvalidVariable("WEBHOOK_PATH")), "{refused:?}");
        }
    }

    #[test]
    fn retentions_and_who_decides() {
        for (text, days) in [(None, 90), (Some("90"), 90), (Some("3650"), 3650)] {
            assert_eq!(retention_days(text), Ok(days));
        }
        for refused in ["", "89", "3651", "-90", "90d", "99999999999"] {
            assert_eq!(retention_days(Some(refused)), Err(InvalidVariable("RETENTION_DAYS")), "{refused:?}");
        }
        assert_eq!(
            [None, Some("inbox"), Some("kv")].map(deciding),
            [Ok(Dedup::Inbox), Ok(Dedup::Inbox), Ok(Dedup::Kv)]
        );
        for refused in ["", "KV", "inbox ", "d1"] {
            assert_eq!(deciding(Some(refused)), Err(InvalidVariable("DEDUP")), "{refused:?}");
        }
    }

    #[test]
    fn only_the_test_environment_may_set_the_clock() {
        assert_eq!(fixed_ms(Some("test"), Some("1788264000")), Some(1_788_264_000_000));
        for (environment, test_now) in [
            (None, Some("1788264000")),
            (Some("production"), Some("1788264000")),
            (Some("Test"), Some("1788264000")),
            (Some("test"), None),
            (Some("test"), Some("soon")),
            (Some("test"), Some("-1")),
            (Some("test"), Some("9223372036854775807")),
            (Some("test"), Some("18446744073709551615")),
        ] {
            assert_eq!(fixed_ms(environment, test_now), None, "{environment:?} {test_now:?}");
        }
    }
}
