//! What JavaScript calls. Each function hands its numbers on, after the heap of the call before is given back.

#![expect(
    unsafe_code,
    reason = "a function is exported under its own name by an attribute that counts as unsafe"
)]

use crate::delivery::{self, Delivery};
use crate::memory::{self, Place};
use crate::{facts, secrets};

/// The address of a place, by its number.
#[unsafe(no_mangle)]
extern "C" fn place(number: usize) -> usize {
    Place::ALL.get(number).map_or(0, |place| place.address())
}

/// Makes room for body, signature and event id, so many bytes in all. 0 when there is not so much memory. Views of
/// the memory may be detached afterwards. `length` is a double, because integers of WebAssembly wrap around.
#[unsafe(no_mangle)]
extern "C" fn reserve(length: f64) -> u32 {
    u32::from(length < f64::from(u32::MAX) && memory::reserve(length as usize))
}

/// The length of the text in the exchange area: what the package says of itself, one per line.
#[unsafe(no_mangle)]
extern "C" fn facts() -> usize {
    memory::clear_heap();
    facts::write()
}

/// The HTTP status that a receiver answers a code with (contract 11.1), by the code's number.
#[unsafe(no_mangle)]
extern "C" fn status(number: usize) -> u32 {
    facts::status(number)
}

/// Judges a configuration. The length of what is wrong with it, in the exchange area; 0 when nothing is.
#[unsafe(no_mangle)]
extern "C" fn configure(secret_count: usize, tolerance_seconds: f64, body_limit: f64) -> usize {
    secrets::configure(secret_count, tolerance_seconds, body_limit)
}

/// Whether a body of so many bytes is looked at under this bound, to be asked before anything of it is written. 0, or
/// the number of the code that it is refused with.
#[unsafe(no_mangle)]
extern "C" fn admit(length: f64, body_limit: f64) -> u32 {
    delivery::admit(length, body_limit)
}

/// Prepares the secret of so many bytes in the exchange area, for a profile: 0 that of the service, 1 that of Standard
/// Webhooks. 1 when it is usable: then its states and its inner pad stand there instead. Otherwise 0. The text is gone
/// either way.
#[unsafe(no_mangle)]
extern "C" fn prepare(length: usize, profile: u32) -> u32 {
    u32::from(secrets::prepare(length, profile))
}

/// Signs the timestamp and a body of so many bytes with the first secret in place; the length of the candidate in the
/// exchange area.
#[unsafe(no_mangle)]
extern "C" fn sign(body: usize) -> usize {
    secrets::sign(body)
}

/// Judges the delivery in place. Lengths are in bytes, -1 for absent; `now` is Unix seconds; `mode` is a sum of the
/// constants in [`delivery`]. For a valid delivery 0, or 256 when its body is ASCII; else the number of its code.
#[unsafe(no_mangle)]
extern "C" fn verify(
    timestamp: i32,
    signature: i32,
    event_id: i32,
    body: i32,
    secret_count: usize,
    tolerance_seconds: f64,
    now: f64,
    mode: u32,
) -> u32 {
    memory::clear_heap();
    let delivery = Delivery::in_place([timestamp, signature, event_id, body]);
    delivery::judge(&delivery, secret_count, tolerance_seconds, now, mode)
}
