//! Amounts as people write them: `12.50` for 1250 minor units of a currency with two digits.

use iso_currency::Currency;

/// The digits behind the point of a currency.
fn digits(currency: &str) -> u32 {
    Currency::from_code(currency).and_then(Currency::exponent).map_or(0, u32::from)
}

/// An amount in minor units, with its currency.
pub(crate) fn written(minor: i64, currency: &str) -> String {
    format!("{} {currency}", plain(minor, currency))
}

/// The same without the currency.
pub(crate) fn plain(minor: i64, currency: &str) -> String {
    let digits = digits(currency);
    if digits == 0 {
        return minor.to_string();
    }
    let unit = 10_u64.pow(digits);
    let (whole, part) = (minor.unsigned_abs() / unit, minor.unsigned_abs() % unit);
    let width = usize::try_from(digits).unwrap_or(0);
    format!("{}{whole}.{part:0width$}", if minor < 0 { "-" } else { "" })
}

/// What was typed, in minor units; `None` when it is no amount of this currency.
pub(crate) fn read(text: &str, currency: &str) -> Option<i64> {
    let digits = usize::try_from(digits(currency)).ok()?;
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let all = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all(whole) || !all(part) || part.len() > digits || text.ends_with('.') {
        return None;
    }
    format!("{whole}{part:0<digits$}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_and_read_by_their_currency() {
        for (minor, currency, text) in [
            (1250, "USD", "12.50"),
            (5, "USD", "0.05"),
            (1250, "JPY", "1250"),
            (1_234_567, "KWD", "1234.567"),
        ] {
            assert_eq!((plain(minor, currency), read(text, currency)), (text.to_owned(), Some(minor)));
        }
        assert_eq!(plain(-5, "USD"), "-0.05");
        assert_eq!(read("12", "USD"), Some(1200));
        assert_eq!(read("12.5", "USD"), Some(1250));
        for wrong in ["", ".5", "12.", "12.505", "-1", "+1", "1e3", "12,50", "99999999999999999999"] {
            assert_eq!(read(wrong, "USD"), None, "{wrong}");
        }
        assert_eq!(read("12.5", "JPY"), None);
    }
}
