//! Numbers: the grammar, and whether the value fits a double.
//!
//! Almost every number is decided by its length: without an exponent, 308 digits before the point always fit.
//! Only what comes close to the border is converted, with the exact conversion of `core`, so that the verdict
//! at the border is that of a correctly rounding reader (JavaScript's): what rounds to infinity is refused.

use core::cmp::Ordering;

use super::Malformed;

/// The decimal exponent of the largest double, 1.797…e308.
const MAX_EXPONENT: usize = 308;

/// Passes over a number; `text` begins with its `-` or first digit. What follows it.
#[inline(always)] // Short integers are most numbers; only they are read in the caller's registers.
pub(super) fn scan(text: &[u8]) -> Result<&[u8], Malformed> {
    let unsigned = match text {
        [b'-', rest @ ..] => rest,
        rest => rest,
    };
    let rest = skip_digits(unsigned);
    let integer = unsigned.len() - rest.len();
    match (unsigned, rest) {
        _ if integer == 0 => Err(Malformed::Syntax),
        ([b'0', ..], _) if integer > 1 => Err(Malformed::Syntax),
        (_, [b'.' | b'e' | b'E', ..]) => scan_double(text, unsigned, rest),
        _ if integer > MAX_EXPONENT => scan_double(text, unsigned, rest),
        _ => Ok(rest),
    }
}

/// The general case: `text` is the whole number, `unsigned` without its sign, and `rest` follows the digits
/// before the point.
#[inline(never)]
fn scan_double<'t>(text: &'t [u8], unsigned: &[u8], mut rest: &'t [u8]) -> Result<&'t [u8], Malformed> {
    let integer = (unsigned.len() - rest.len()) as i64;
    let mut fraction: &[u8] = &[];
    if let [b'.', after @ ..] = rest {
        rest = skip_digits(after);
        fraction = after.get(..after.len() - rest.len()).unwrap_or_default();
        if fraction.is_empty() {
            return Err(Malformed::Syntax);
        }
    }
    let mut exponent = 0;
    if let [b'e' | b'E', after @ ..] = rest {
        (exponent, rest) = scan_exponent(after)?;
    }
    let first_digit = match unsigned {
        // 0.00x: every zero after the point lowers the magnitude; where all is zero, the value fits as it is.
        [b'0', ..] => match fraction.iter().position(|byte| *byte != b'0') {
            Some(zeros) => -1 - zeros as i64,
            None => return Ok(rest),
        },
        _ => integer - 1,
    };
    let fits = match exponent.saturating_add(first_digit).cmp(&(MAX_EXPONENT as i64)) {
        Ordering::Less => true,
        Ordering::Equal => to_double(text, rest).is_some_and(f64::is_finite),
        Ordering::Greater => false,
    };
    if fits { Ok(rest) } else { Err(Malformed::Range) }
}

/// The largest integer below which a double holds every integer: 2^53 - 1.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The value of a checked number, when a reader that keeps doubles sees an integer in 0 to 2^53 - 1.
/// `1.0`, `1e3` and `-0` are such; JSON has no integer type.
pub(crate) fn safe_integer(number: &str) -> Option<u64> {
    let integer = number.parse().ok().or_else(|| {
        let value: f64 = number.parse().ok()?;
        // Casting saturates and drops a fraction; the way back tells whether anything was lost.
        let integer = value as u64;
        (integer as f64 == value).then_some(integer)
    });
    integer.filter(|integer| *integer <= MAX_SAFE_INTEGER)
}

/// The value of what stands before `rest` in `text`.
fn to_double(text: &[u8], rest: &[u8]) -> Option<f64> {
    let number = text.get(..text.len() - rest.len())?;
    core::str::from_utf8(number).ok()?.parse().ok()
}

fn skip_digits(mut text: &[u8]) -> &[u8] {
    while let [b'0'..=b'9', rest @ ..] = text {
        text = rest;
    }
    text
}

/// The value of the exponent behind its `e`, saturated, and what follows it.
fn scan_exponent(text: &[u8]) -> Result<(i64, &[u8]), Malformed> {
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let rest = skip_digits(text);
    let digits = text.get(..text.len() - rest.len()).unwrap_or_default();
    if digits.is_empty() {
        return Err(Malformed::Syntax);
    }
    let value = digits
        .iter()
        .fold(0_i64, |value, byte| value.saturating_mul(10).saturating_add(i64::from(byte - b'0')));
    Ok((if negative { -value } else { value }, rest))
}
