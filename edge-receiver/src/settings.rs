//! The variables of the Worker, read.
//!
//! A Worker has no start of its own, so they are read when the first delivery comes. What they may say, `configuration`
//! knows.

use std::cell::RefCell;
use std::rc::Rc;

use verify_core::Profile;
use verify_core::verify::Verifier;
use worker::Env;
use worker::js_sys::Object;

use crate::binding::{self, WrongType};
use crate::clock;
use crate::configuration::{
    self, DEDUP, Dedup, InvalidVariable, RETENTION_DAYS, SIGNATURE_PROFILE, SIGNING_SECRET,
    SIGNING_SECRET_PREVIOUS, TOLERANCE_SECONDS, WEBHOOK_PATH,
};

/// What a delivery needs of the Worker's variables, each as far as it can be used.
pub(crate) struct Settings {
    pub(crate) path: Result<String, InvalidVariable>,
    pub(crate) verifier: Result<Verifier, InvalidVariable>,
    /// The headers that are read. Those of the service when the variable cannot be used; then nothing is verified.
    pub(crate) profile: Profile,
    pub(crate) dedup: Result<Dedup, InvalidVariable>,
    pub(crate) retention_seconds: Result<u32, InvalidVariable>,
    /// The time that a test has set, Unix milliseconds.
    pub(crate) fixed_ms: Option<i64>,
}

thread_local! {
    static READ: RefCell<Option<(Env, Rc<Settings>)>> = const { RefCell::new(None) };
}

/// The settings that are in `env`. They are read once per object `env`: the runtime makes one for each version of the
/// deployment, and a changed variable or secret is a new version.
pub(crate) fn settings(env: &Env) -> Rc<Settings> {
    READ.with_borrow_mut(|read| match read {
        Some((of, settings)) if Object::is(of, env) => Rc::clone(settings),
        _ => {
            let settings = Rc::new(Settings {
                path: variable(env, WEBHOOK_PATH).and_then(configuration::path),
                verifier: verifier(env),
                profile: profile_of(env).unwrap_or_default(),
                dedup: dedup(env),
                retention_seconds: retention_seconds(env),
                fixed_ms: clock::set_ms(env),
            });
            *read = Some((env.clone(), Rc::clone(&settings)));
            settings
        }
    })
}

fn verifier(env: &Env) -> Result<Verifier, InvalidVariable> {
    let mut secrets = Vec::with_capacity(2);
    for name in [SIGNING_SECRET, SIGNING_SECRET_PREVIOUS] {
        secrets.extend(variable(env, name)?);
    }
    let tolerance = configuration::tolerance(variable(env, TOLERANCE_SECONDS)?.as_deref())?;
    // Two secrets are within the limit; the only error that is left would be about their number.
    Verifier::for_profile(profile_of(env)?, &secrets, tolerance).map_err(|_| InvalidVariable(SIGNING_SECRET))
}

fn profile_of(env: &Env) -> Result<Profile, InvalidVariable> {
    configuration::profile(variable(env, SIGNATURE_PROFILE)?.as_deref())
}

/// How long claims are kept, in seconds.
pub(crate) fn retention_seconds(env: &Env) -> Result<u32, InvalidVariable> {
    Ok(configuration::retention_days(variable(env, RETENTION_DAYS)?.as_deref())? * 24 * 60 * 60)
}

/// Claims that were made before this are removed, Unix milliseconds.
pub(crate) fn kept_since_ms(env: &Env) -> Result<i64, InvalidVariable> {
    Ok(clock::now_ms(env) - i64::from(retention_seconds(env)?) * 1000)
}

/// Who decides between first and duplicate.
pub(crate) fn dedup(env: &Env) -> Result<Dedup, InvalidVariable> {
    configuration::deciding(variable(env, DEDUP)?.as_deref())
}

/// A variable or secret as it is, `None` when it is not set.
pub(crate) fn variable(env: &Env, name: &'static str) -> Result<Option<String>, InvalidVariable> {
    binding::text(env, name).map_err(|WrongType| InvalidVariable(name))
}
