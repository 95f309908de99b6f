//! Identifiers as the authority issues them: a prefix and a UUIDv7 in lowercase Crockford base32 (contract 1.1).
//!
//! The caller hands in the time and the random bits; the same inputs give the same id. Receivers treat ids as
//! opaque and the verifier accepts a wider form (contract 10.3), so nothing in verification depends on this.

use alloc::string::String;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 26 characters of 5 bits hold 130 bits; the first character therefore stays below 8.
const WIDTH: usize = 26;

/// A UUIDv7 (RFC 9562, 5.7) as a number: 48 bits of Unix milliseconds, version, and 74 random bits.
/// Milliseconds beyond 48 bits (the year 10889) wrap.
#[must_use]
pub fn uuid_v7(now_ms: u64, random: [u8; 10]) -> u128 {
    let [a0, a1, rest @ ..] = random;
    let rand_a = u128::from(u16::from_be_bytes([a0, a1]) & 0x0fff);
    let rand_b = u128::from(u64::from_be_bytes(rest) & 0x3fff_ffff_ffff_ffff);
    let ms = u128::from(now_ms & 0xffff_ffff_ffff);
    ms << 80 | 0x7 << 76 | rand_a << 64 | 0b10 << 62 | rand_b
}

/// `<prefix>_<26 characters>`; the prefix comes without its underscore (`"evt"`).
#[must_use]
pub fn encode(prefix: &str, uuid: u128) -> String {
    let mut text = String::with_capacity(prefix.len() + 1 + WIDTH);
    text.push_str(prefix);
    text.push('_');
    for place in (0..WIDTH).rev() {
        let digit = (uuid >> (place * 5)) as usize & 31;
        text.push(char::from(ALPHABET.get(digit).copied().unwrap_or(b'0')));
    }
    text
}

/// Whether `text` is an id of this prefix (without underscore) in the issued form.
#[must_use]
pub fn is_issued(prefix: &str, text: &str) -> bool {
    split(text).is_some_and(|(found, _)| found == prefix)
}

/// The number that an issued id is written from, by which ids are in the order of their making; the inverse of
/// [`encode`]. `None` when `text` is not in the issued form.
#[must_use]
pub fn uuid(text: &str) -> Option<u128> {
    split(text).map(|(_, uuid)| uuid)
}

/// The Unix milliseconds an issued id was made at; `None` when `text` is not in the issued form.
#[must_use]
pub fn timestamp_ms(text: &str) -> Option<u64> {
    split(text).map(|(_, uuid)| (uuid >> 80) as u64)
}

/// Prefix and UUID of an id in the issued form: `^[a-z]{2,5}_[0-7][0-9a-hjkmnp-tv-z]{25}$`.
fn split(text: &str) -> Option<(&str, u128)> {
    let (prefix, digits) = text.split_once('_')?;
    if !(2..=5).contains(&prefix.len()) || !prefix.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    if digits.len() != WIDTH || !matches!(digits.as_bytes().first(), Some(b'0'..=b'7')) {
        return None;
    }
    let mut uuid = 0_u128;
    for byte in digits.bytes() {
        let digit = ALPHABET.iter().position(|known| *known == byte)?;
        uuid = uuid << 5 | digit as u128;
    }
    Some((prefix, uuid))
}
