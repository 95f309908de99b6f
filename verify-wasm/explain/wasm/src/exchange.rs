//! The bytes that JavaScript and this module exchange: first a question, then its answer.
//!
//! The only place with unsafe code: exported names, and one vector that outlives the calls.

#![allow(
    unsafe_code,
    reason = "exports need fixed names, and what is written between two calls needs a place"
)]

use alloc::vec::Vec;
use core::cell::UnsafeCell;

use crate::Settings;

struct Place(UnsafeCell<Vec<u8>>);

// SAFETY: the module is built without threads, so there is nobody to share with; `exchange` is the only one that looks
// inside, holds no reference when it returns, and calls nothing that could come back to it.
unsafe impl Sync for Place {}

static BYTES: Place = Place(UnsafeCell::new(Vec::new()));

/// Puts these bytes in their place and takes those that were there.
fn exchange(bytes: Vec<u8>) -> Vec<u8> {
    // SAFETY: see `Place`; the reference ends with this expression.
    core::mem::replace(unsafe { &mut *BYTES.0.get() }, bytes)
}

/// Makes room for a question of `length` bytes and returns its address, or null when there is not so much memory.
#[unsafe(no_mangle)]
pub extern "C" fn explain_reserve(length: usize) -> *const u8 {
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(length).is_err() {
        return core::ptr::null();
    }
    bytes.resize(length, 0);
    let address = bytes.as_ptr();
    exchange(bytes);
    address
}

/// Answers the question that was written, with this tolerance and time in seconds, about a body of so many bytes
/// under this bound. Returns the answer's length in bytes; 0 when the bytes were no question, or one with a
/// configuration that is refused.
#[unsafe(no_mangle)]
pub extern "C" fn explain_run(tolerance_seconds: f64, now: f64, body_bytes: f64, body_limit: f64) -> usize {
    let settings = Settings { tolerance_seconds, now, body_bytes, body_limit };
    let answer = crate::replace_by_answer(exchange(Vec::new()), &settings);
    let length = answer.len();
    exchange(answer);
    length
}

/// Where the answer lies.
#[unsafe(no_mangle)]
pub extern "C" fn explain_address() -> *const u8 {
    let bytes = exchange(Vec::new());
    let address = bytes.as_ptr();
    exchange(bytes);
    address
}
