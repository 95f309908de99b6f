//! Secrets on their way in, and what is signed with them.

use verify_core::mac::STATES_LEN;
use verify_core::sign::SCHEME;
use verify_core::verify::MAX_SECRETS;
use verify_core::{ConfigError, Secret, Tolerance, secret};

use crate::memory::{self, Place};

pub(crate) fn configure(secret_count: usize, tolerance_seconds: f64) -> usize {
    // A float beyond the integers saturates, and so stays out of range.
    let refused = match Tolerance::new(tolerance_seconds as i64) {
        Err(error) => Some(error),
        Ok(_) => (secret_count > MAX_SECRETS).then_some(ConfigError::TooManySecrets),
    };
    let message = refused.map_or("", ConfigError::message);
    memory::write(Place::Exchange, message.as_bytes());
    message.len()
}

pub(crate) fn prepare(length: usize) -> bool {
    let text = memory::bytes(Place::Exchange, 0, length);
    let prepared = Secret::parse_bytes(text).and_then(|secret| Ok((secret, secret::inner_pad(text)?)));
    let mut answer = [0; secret::MAX_CHARS];
    if let Ok((secret, pad)) = &prepared {
        for (place, byte) in answer.iter_mut().zip(secret.to_states().iter().chain(pad)) {
            *place = *byte;
        }
    }
    memory::write(Place::Exchange, &answer);
    prepared.is_ok()
}

/// The secret whose states stand at this place among those of the receiver.
pub(crate) fn in_place(index: usize) -> Option<Secret> {
    let states = memory::bytes(Place::States, index * STATES_LEN, STATES_LEN);
    Some(Secret::from_states(states.try_into().ok()?))
}

pub(crate) fn sign(body: usize) -> usize {
    let timestamp = memory::bytes(Place::Timestamp, 0, crate::delivery::TIMESTAMP_LEN);
    let Some(secret) = in_place(0) else { return 0 };
    let signature = secret.sign(timestamp, memory::bytes(Place::Body, 0, body));
    let mut candidate = [0; SCHEME.len() + 64];
    for (place, byte) in candidate.iter_mut().zip(SCHEME.as_bytes().iter().chain(&signature)) {
        *place = *byte;
    }
    memory::write(Place::Exchange, &candidate);
    candidate.len()
}
