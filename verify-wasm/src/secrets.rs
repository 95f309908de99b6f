//! Secrets on their way in, and what is signed with them.

use verify_core::mac::STATES_LEN;
use verify_core::secret::Prepared;
use verify_core::sign::SCHEME;
use verify_core::verify::MAX_SECRETS;
use verify_core::{BodyLimit, ConfigError, Profile, Secret, Tolerance};

use crate::memory::{self, Place};

pub(crate) fn configure(secret_count: usize, tolerance_seconds: f64, body_limit: f64) -> usize {
    // Floats beyond the integers saturate, and so stay out of range.
    let refused = if secret_count > MAX_SECRETS {
        Some(ConfigError::TooManySecrets)
    } else {
        Tolerance::new(tolerance_seconds as i64).err().or(BodyLimit::new(body_limit as i64).err())
    };
    let message = refused.map_or("", ConfigError::message);
    memory::write(Place::Exchange, message.as_bytes());
    message.len()
}

pub(crate) fn prepare(length: usize, profile: u32) -> bool {
    let mut prepared = Prepared::new();
    let profile = if profile == 0 { Profile::Service } else { Profile::StandardWebhooks };
    let usable = prepared.prepare(profile, memory::bytes(Place::Exchange, 0, length)).is_ok();
    // Of an unusable secret nothing stays either, however long it was.
    memory::wipe(Place::Exchange);
    if usable {
        memory::write(Place::Exchange, &prepared.states);
        memory::write_behind(Place::Exchange, STATES_LEN, &prepared.inner_pad);
    }
    usable
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
