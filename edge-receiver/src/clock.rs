//! The time.
//!
//! The Worker's clock is read in one place and handed on. The golden vectors are signed for a fixed moment, so
//! a test may say what time it is: `TEST_NOW` (Unix seconds) counts only where `ENVIRONMENT` is `test`. Both
//! are variables of the deployment; no request can reach them.
//!
//! Alarms go by the runtime's own clock, which nobody can set, and so does the schedule of what they do.

use worker::{Date, Env};

use crate::binding;
use crate::configuration::fixed_ms;

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
