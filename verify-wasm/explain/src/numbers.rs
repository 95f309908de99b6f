//! Other ways of writing a JSON number: what parsers and writers in between make of one.
//!
//! A parser that knows doubles alone writes `42` as `42.0` or `4.2E1`, one of JavaScript `42.0` as `42`. Which it was
//! cannot be seen in a body, so the usual ways are tried: of all its numbers at once, and of one alone. A number that
//! lost digits cannot be undone; how that looks is told in [`is_rounded`].

use alloc::format;
use alloc::string::{String, ToString as _};

/// Numbers with more places are left as they are.
const PLACES_MAX: usize = 40;

/// How the numbers of a body are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    AsTheyAre,
    /// Whole ones as digits alone.
    Whole,
    /// Each with so many decimal places at least; or only those that are no members of the event itself, as prices are.
    Places {
        at_least: usize,
        inside: bool,
    },
    /// Those that have a fraction with so many decimal places at least.
    FractionPlaces(usize),
    /// The one at this index, of all of the body, in this way of [`single_forms`].
    One {
        index: usize,
        form: usize,
    },
}

/// The ways in which all numbers are tried at once, and how they are told.
pub(crate) const ALL_AT_ONCE: [(Numbers, &str); 6] = [
    (Numbers::Whole, ", with whole numbers written as digits alone"),
    (Numbers::Places { at_least: 1, inside: false }, ", with a decimal place behind whole numbers"),
    (Numbers::Places { at_least: 1, inside: true }, ", with a decimal place behind whole numbers in data"),
    (Numbers::FractionPlaces(2), ", with two decimal places behind fractions"),
    (Numbers::Places { at_least: 2, inside: false }, ", with two decimal places behind every number"),
    (Numbers::Places { at_least: 2, inside: true }, ", with two decimal places behind every number in data"),
];

/// How many ways of writing one number there are to be tried.
pub(crate) const SINGLE_FORMS: usize = 8;

impl Numbers {
    /// The number `raw`, which is the one at `index` and inside so many containers, written so; `None` when that
    /// changes nothing.
    pub(crate) fn rewritten(self, raw: &str, index: usize, depth: usize) -> Option<String> {
        let text = match self {
            Self::AsTheyAre => return None,
            Self::Whole => whole(raw)?,
            Self::Places { at_least, inside } if !inside || depth > 1 => with_places(raw, at_least)?,
            Self::FractionPlaces(places) if raw.contains('.') => with_places(raw, places)?,
            Self::One { index: chosen, form } if chosen == index => single_form(raw, form)?,
            Self::Places { .. } | Self::FractionPlaces(_) | Self::One { .. } => return None,
        };
        (text != raw).then_some(text)
    }
}

/// Whether an integer looks as if digits of it had been lost: beyond what a double holds, and ending in zeros or with
/// an exponent, as such a one is written.
pub(crate) fn is_rounded(raw: &str) -> bool {
    let digits = raw.bytes().filter(u8::is_ascii_digit).count();
    let is_whole = !raw.contains(['.', 'e', 'E']);
    (is_whole && digits > 16 && raw.ends_with('0')) || raw.contains("e+")
}

fn single_form(raw: &str, form: usize) -> Option<String> {
    if raw.contains(['e', 'E']) {
        return whole(raw).filter(|_| form == 0);
    }
    if raw.contains('.') {
        return match form {
            0 => whole(raw),
            1 => Some(format!("{raw}0")),
            _ => None,
        };
    }
    let mantissa = raw.trim_end_matches('0');
    let zeros = raw.len() - mantissa.len();
    let has_exponent = zeros > 0 && mantissa.ends_with(|last: char| last.is_ascii_digit());
    Some(match form {
        0 => format!("{raw}.0"),
        1 => format!("{raw}.00"),
        2 => format!("{raw}e0"),
        3.. if !has_exponent => return None,
        3 => format!("{mantissa}e{zeros}"),
        4 => format!("{mantissa}E{zeros}"),
        5 => format!("{mantissa}e+{zeros}"),
        6 => format!("{mantissa}E+{zeros}"),
        _ => format!("{mantissa}.0e{zeros}"),
    })
}

/// A whole number that has a fraction or an exponent, as digits alone.
fn whole(raw: &str) -> Option<String> {
    let (mantissa, exponent) = raw.split_once(['e', 'E']).unwrap_or((raw, "0"));
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i32 = exponent.trim_start_matches('+').parse().ok()?;
    let places = i32::try_from(integer.len()).ok()?.checked_add(exponent)?;
    let places = usize::try_from(places).ok().filter(|places| (1..=PLACES_MAX).contains(places))?;
    let digits = format!("{integer}{fraction}");
    let (kept, rest) = match digits.split_at_checked(places) {
        Some(split) => split,
        None => (digits.as_str(), ""),
    };
    if rest.bytes().any(|digit| digit != b'0') {
        return None;
    }
    let digits = format!("{kept:0<places$}");
    let digits = digits.trim_start_matches('0');
    Some(format!("{sign}{}", if digits.is_empty() { "0" } else { digits }))
}

/// With zeros behind it until it has so many decimal places.
fn with_places(raw: &str, places: usize) -> Option<String> {
    if raw.contains(['e', 'E']) {
        return None;
    }
    let mut text = raw.to_string();
    let present = match raw.split_once('.') {
        Some((_, fraction)) => fraction.len(),
        None => {
            text.push('.');
            0
        }
    };
    for _ in present..places {
        text.push('0');
    }
    Some(text)
}
