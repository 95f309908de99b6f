//! What the core knows by heart: versions, and the codes with their numbers.
//!
//! Codes are numbered from 1, in order of precedence (contract 10.2).

use alloc::vec::Vec;

use verify_core::VerificationCode;

use crate::memory::{self, Place};

/// Writes the contract's version, the API version and the names of all codes, one per line. The length.
pub(crate) fn write() -> usize {
    let mut text = Vec::new();
    for line in [verify_core::CONTRACT_VERSION, verify_core::API_VERSION] {
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
    }
    for code in VerificationCode::ALL {
        text.extend_from_slice(code.as_str().as_bytes());
        text.push(b'\n');
    }
    memory::write(Place::Exchange, &text);
    text.len()
}

/// The number of a code.
pub(crate) fn number(code: VerificationCode) -> u32 {
    code as u32 + 1
}

/// The HTTP status of the code of this number, 0 when there is none.
pub(crate) fn status(number: usize) -> u32 {
    let code = number.checked_sub(1).and_then(|index| VerificationCode::ALL.get(index));
    code.map_or(0, |code| code.http_status().into())
}
