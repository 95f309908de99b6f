//! Numbers: the grammar, whether the value fits a double, and whether it is an integer.
//!
//! Readers keep numbers as doubles, and the verdict is that of a correctly rounding one (JavaScript's): a number that
//! rounds to infinity is refused, and an integer is what rounds to one. Almost every number is decided by its length:
//! without point and exponent, 308 digits always fit. Of the others the order of magnitude decides, and only at a
//! border the digits do.
//!
//! Deliberately absent: a conversion to a double ([`super::borders`] says why).

use core::cmp::Ordering;

use super::Malformed;
use super::borders::{OVERFLOW, UNDERFLOW};

/// So many digits before the point are below every border.
const ALWAYS_FIT: usize = 308;

/// Passes over a number; `text` begins with its `-` or first digit. What follows it.
#[inline(always)] // Short integers are most numbers; only they are read in the caller's registers.
pub(super) fn scan(text: &[u8]) -> Result<&[u8], Malformed> {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let rest = skip_digits(unsigned);
    let integer = unsigned.len() - rest.len();
    match (unsigned, rest) {
        _ if integer == 0 => Err(Malformed::Syntax),
        ([b'0', ..], _) if integer > 1 => Err(Malformed::Syntax),
        (_, [b'.' | b'e' | b'E', ..]) => scan_double(unsigned, rest),
        _ if integer > ALWAYS_FIT => scan_double(unsigned, rest),
        _ => Ok(rest),
    }
}

#[inline(never)]
fn scan_double<'t>(unsigned: &'t [u8], rest: &'t [u8]) -> Result<&'t [u8], Malformed> {
    let (decimal, rest) = Decimal::scan(unsigned, rest)?;
    if decimal.is_finite() { Ok(rest) } else { Err(Malformed::Range) }
}

/// The largest integer below which a double holds every integer: 2^53 - 1.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The value of a checked number, when a reader that keeps doubles sees an integer in 0 to 2^53 - 1.
/// `1.0`, `1e3` and `-0` are such; JSON has no integer type.
pub(crate) fn safe_integer(number: &str) -> Option<u64> {
    let integer = number.parse().ok().or_else(|| {
        let unsigned = number.strip_prefix('-').unwrap_or(number).as_bytes();
        let (decimal, _) = Decimal::scan(unsigned, skip_digits(unsigned)).ok()?;
        if decimal.rounds_to_zero() {
            Some(0)
        } else {
            decimal.to_integer().filter(|_| !number.starts_with('-'))
        }
    });
    integer.filter(|integer| *integer <= MAX_SAFE_INTEGER)
}

/// A number without its sign: 0.d₁d₂d₃… × 10^`point`, where d₁ is not 0. Zero has no digits.
struct Decimal<'t> {
    /// The digits as they are written, before the point and after it.
    integer: &'t [u8],
    fraction: &'t [u8],
    point: i64,
}

impl<'t> Decimal<'t> {
    /// Reads the number that `unsigned` begins with; `rest` follows its digits before the point. What follows it.
    fn scan(unsigned: &'t [u8], mut rest: &'t [u8]) -> Result<(Self, &'t [u8]), Malformed> {
        let mut integer = digits_before(unsigned, rest);
        let mut fraction: &[u8] = &[];
        if let [b'.', after @ ..] = rest {
            rest = skip_digits(after);
            fraction = digits_before(after, rest);
            if fraction.is_empty() {
                return Err(Malformed::Syntax);
            }
        }
        let mut point = 0;
        if let [b'e' | b'E', after @ ..] = rest {
            (point, rest) = scan_exponent(after)?;
        }
        if integer == b"0" {
            let digits = skip_zeros(fraction);
            point = point.saturating_sub_unsigned((fraction.len() - digits.len()) as u64);
            (integer, fraction) = (&[], digits);
        }
        point = point.saturating_add_unsigned(integer.len() as u64);
        Ok((Self { integer, fraction, point }, rest))
    }

    fn digits(&self) -> impl DoubleEndedIterator<Item = &'t u8> {
        self.integer.iter().chain(self.fraction)
    }

    fn is_zero(&self) -> bool {
        self.integer.is_empty() && self.fraction.is_empty()
    }

    /// Whether the nearest double is not infinity.
    fn is_finite(&self) -> bool {
        self.is_zero()
            || match self.point.cmp(&309) {
                Ordering::Less => true,
                Ordering::Equal => self.digits().lt(OVERFLOW),
                Ordering::Greater => false,
            }
    }

    /// Whether the nearest double is zero.
    fn rounds_to_zero(&self) -> bool {
        self.is_zero()
            || match self.point.cmp(&-323) {
                Ordering::Less => true,
                Ordering::Equal => self.digits().le(UNDERFLOW.iter().chain(core::iter::repeat(&b'0'))),
                Ordering::Greater => false,
            }
    }

    /// The nearest double of a number that does not round to zero, if it is an integer below 10^16.
    fn to_integer(&self) -> Option<u64> {
        // So many bits and a digit before them fit a word; a double of 1 and above has at most 52 behind its point.
        const BITS: u32 = 60;
        if self.point > 16 {
            return None;
        }
        let mut digits = self.digits().map(|digit| u64::from(digit - b'0'));
        let mut whole = 0;
        for _ in 0..self.point {
            whole = whole * 10 + digits.next().unwrap_or_default();
        }
        // What stands behind the point in binary, from its last digit on. The lowest bit is also set when anything
        // is cut off ("round to odd"): rounding the result once more is then as good as rounding the number itself.
        let mut part = 0;
        let mut cut = false;
        let zeros = core::iter::repeat_n(0, self.point.min(0).unsigned_abs() as usize);
        for digit in zeros.chain(digits).rev() {
            let sum = (digit << BITS) + part;
            part = sum / 10;
            cut |= !sum.is_multiple_of(10);
        }
        let fixed = u128::from(whole) << BITS | u128::from(part) | u128::from(cut);
        let double = fixed as f64 / (1_u64 << BITS) as f64;
        let integer = double as u64;
        (integer as f64 == double).then_some(integer)
    }
}

fn skip_digits(mut text: &[u8]) -> &[u8] {
    while let [b'0'..=b'9', rest @ ..] = text {
        text = rest;
    }
    text
}

fn skip_zeros(mut text: &[u8]) -> &[u8] {
    while let [b'0', rest @ ..] = text {
        text = rest;
    }
    text
}

/// What stands in `text` before its tail `rest`.
fn digits_before<'t>(text: &'t [u8], rest: &[u8]) -> &'t [u8] {
    text.get(..text.len() - rest.len()).unwrap_or_default()
}

/// The value of the exponent behind its `e`, saturated, and what follows it.
fn scan_exponent(text: &[u8]) -> Result<(i64, &[u8]), Malformed> {
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let rest = skip_digits(text);
    let digits = digits_before(text, rest);
    if digits.is_empty() {
        return Err(Malformed::Syntax);
    }
    let value = digits
        .iter()
        .fold(0_i64, |value, byte| value.saturating_mul(10).saturating_add(i64::from(byte - b'0')));
    Ok((if negative { -value } else { value }, rest))
}
