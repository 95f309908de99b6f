//! What the core knows by heart: versions, and the codes with their numbers.
//!
//! Codes are numbered from 1, in order of precedence (contract 10.2).

use verify_core::VerificationCode;

use crate::memory::{self, Place};

/// The contract's version, the API version and the names of all codes.
const LINES: [&str; 2 + VerificationCode::ALL.len()] = {
    let mut lines = [""; 2 + VerificationCode::ALL.len()];
    let [contract, api, codes @ ..] = &mut lines;
    (*contract, *api) = (verify_core::CONTRACT_VERSION, verify_core::API_VERSION);
    let mut places: &mut [&str] = codes;
    let mut all: &[VerificationCode] = &VerificationCode::ALL;
    while let ([place, later @ ..], [code, others @ ..]) = (places, all) {
        *place = code.as_str();
        (places, all) = (later, others);
    }
    lines
};

/// The lines with what ends each. Put together when this is compiled, because it is asked for at every start.
static TEXT: [u8; length(&LINES)] = {
    let mut text = [b'\n'; length(&LINES)];
    let mut room: &mut [u8] = &mut text;
    let mut lines: &[&str] = &LINES;
    while let [line, others @ ..] = lines {
        let (place, behind) = room.split_at_mut(line.len());
        place.copy_from_slice(line.as_bytes());
        (room, lines) = (behind.split_at_mut(1).1, others);
    }
    text
};

const fn length(mut lines: &[&str]) -> usize {
    let mut length = 0;
    while let [line, others @ ..] = lines {
        length += line.len() + 1;
        lines = others;
    }
    length
}

/// Writes the lines. The length.
pub(crate) fn write() -> usize {
    memory::write(Place::Exchange, &TEXT);
    TEXT.len()
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
