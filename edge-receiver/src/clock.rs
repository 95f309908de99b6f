//! The time.
//!
//! The Worker's clock is read in one place and handed on. The golden vectors are signed for a fixed moment, so
//! a test may say what time it is: `TEST_NOW` (Unix seconds) counts only where `ENVIRONMENT` is `test`. Both
//! are variables of the deployment; no request can reach them.
//!
//! Alarms go by the runtime's own clock, which nobody can set, and so does the schedule of what they do.

use worker::{Date, Env};

use crate::binding;

/// The time, Unix milliseconds.
pub(crate) fn now_ms(env: &Env) -> i64 {
    set_ms(env).unwrap_or_else(runtime_ms)
}

/// The time that a test has set, Unix milliseconds.
pub(crate) fn set_ms(env: &Env) -> Option<i64> {
    let environment = binding::text(env, "ENVIRONMENT").ok().flatten();
    let test_now = match environment.as_deref() {
        Some("test") => binding::text(env, "TEST_NOW").ok().flatten(),
        _ => None,
    };
    fixed_ms(environment.as_deref(), test_now.as_deref())
}

/// The time by which the runtime rings its alarms, Unix milliseconds.
pub(crate) fn runtime_ms() -> i64 {
    Date::now().as_millis().cast_signed()
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
