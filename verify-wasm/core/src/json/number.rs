//! Numbers: the grammar, and whether the value fits a double.
//!
//! Almost every number is decided by its length: without an exponent, 308 digits before the point always fit.
//! Only what comes close to the border is converted, with the exact conversion of `core`, so that the verdict
//! at the border is that of a correctly rounding reader (JavaScript's): what rounds to infinity is refused.

use super::Malformed;

/// The decimal exponent of the largest double, 1.797…e308.
const MAX_EXPONENT: i64 = 308;

/// Splits a number off the front of `text`, which begins with `-` or a digit. Returns its length in bytes.
pub(super) fn scan(text: &[u8]) -> Result<usize, Malformed> {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let integer = digits(unsigned);
    let leading_zero = unsigned.first() == Some(&b'0');
    if integer == 0 || (leading_zero && integer > 1) {
        return Err(Malformed::Syntax);
    }
    let mut rest = unsigned.get(integer..).unwrap_or_default();
    let mut fraction: &[u8] = &[];
    if let Some(after) = rest.strip_prefix(b".") {
        let length = digits(after);
        if length == 0 {
            return Err(Malformed::Syntax);
        }
        (fraction, rest) = after.split_at_checked(length).unwrap_or_default();
    }
    let mut exponent = 0;
    if let [b'e' | b'E', after @ ..] = rest {
        (exponent, rest) = scan_exponent(after)?;
    }
    let length = text.len() - rest.len();
    let magnitude = if leading_zero {
        // 0.00x: every zero after the point lowers the magnitude; a bare zero has none at all.
        let zeros = fraction.iter().take_while(|byte| **byte == b'0').count();
        if zeros == fraction.len() { i64::MIN } else { exponent.saturating_sub(zeros as i64 + 1) }
    } else {
        exponent.saturating_add(integer as i64 - 1)
    };
    if magnitude < MAX_EXPONENT {
        return Ok(length);
    }
    if magnitude > MAX_EXPONENT || !text.get(..length).and_then(to_double).is_some_and(f64::is_finite) {
        return Err(Malformed::Range);
    }
    Ok(length)
}

/// The largest integer below which a double holds every integer: 2^53 - 1.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The value of a checked number, when a reader that keeps doubles sees an integer in 0 to 2^53 - 1.
/// `1.0`, `1e3` and `-0` are such; JSON has no integer type.
#[must_use]
pub fn safe_integer(number: &str) -> Option<u64> {
    let value: f64 = number.parse().ok()?;
    // Casting saturates and drops a fraction; the way back tells whether anything was lost.
    let integer = value as u64;
    (integer <= MAX_SAFE_INTEGER && integer as f64 == value).then_some(integer)
}

fn to_double(number: &[u8]) -> Option<f64> {
    core::str::from_utf8(number).ok()?.parse().ok()
}

/// How many digits `text` begins with.
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The value of the exponent behind its `e`, saturated, and what follows it.
fn scan_exponent(text: &[u8]) -> Result<(i64, &[u8]), Malformed> {
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let (digits, rest) = text.split_at_checked(digits(text)).unwrap_or_default();
    if digits.is_empty() {
        return Err(Malformed::Syntax);
    }
    let value = digits
        .iter()
        .fold(0_i64, |value, byte| value.saturating_mul(10).saturating_add(i64::from(byte - b'0')));
    Ok((if negative { -value } else { value }, rest))
}
