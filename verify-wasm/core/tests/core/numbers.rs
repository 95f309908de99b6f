//! Numbers at the borders of doubles: refused where the nearest double is infinite, integers where it is one. The
//! reference is the conversion of the standard library.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use verify_core::event;
use verify_core::json::{Duplicates, check};

use crate::delivery::BODY;
use crate::json_text::{holding, read};

#[test]
fn the_border_of_doubles_is_exact() {
    // Half a unit above the largest double, 2^1024 - 2^970: this rounds to infinity, one less does not.
    let border = "17976931348623158079372897140530341507993413271003782693617377898044496829276475\
         09466490179775872070963302864166928879109465555478519404026306574886715058206819\
         08902000708383676273854845817711531764475730270069855571366959622842914819860834\
         936475292719074168444365510704342711559699508093042880177904174497792";
    let below = &border.replace("4497792", "4497791");
    let cases = [
        (border.to_owned(), false),
        (below.to_owned(), true),
        (format!("{below}.999"), true),
        (format!("{border}.0"), false),
        (format!("{border}e-1"), true),
        (format!("{below}e1"), false),
        (format!("0.{border}e309"), false),
        (format!("0.{below}e309"), true),
        (format!("0.000{below}e312"), true),
    ];
    for (number, fits) in cases {
        for number in [format!("-{number}"), number] {
            assert_eq!(number.parse::<f64>().unwrap().is_finite(), fits, "{number}");
            assert_eq!(read(holding(&number)), if fits { "ok" } else { "invalid_json" }, "{number}");
        }
    }
    let digits = [
        "1797693134862315",
        "17976931348623157",
        "17976931348623158",
        "17976931348623159",
        "1797693134862316",
        "9",
        "1",
        "0",
    ];
    for digits in digits {
        for zeros in [0, 1, 290, 291, 292, 293, 307, 308, 309, 310, 1000] {
            for exponent in
                [-2000, -1001, -310, -309, -2, -1, 0, 1, 2, 290, 291, 292, 293, 294, 307, 308, 309, 310, 1308]
            {
                let padded = format!("{digits}{}", "0".repeat(zeros));
                let integer = if digits == "0" { "0" } else { &padded };
                for number in [
                    format!("{integer}e{exponent}"),
                    format!("{integer}.{padded}e{exponent}"),
                    format!("0.{}{digits}e{exponent}", "0".repeat(zeros)),
                ] {
                    let fits = number.parse::<f64>().unwrap().is_finite();
                    assert_eq!(check(number.as_bytes(), 127, Duplicates::Allowed).is_ok(), fits, "{number}");
                }
            }
        }
    }
}

/// What the reader makes of this number as the event's `sequence`; `None` when it refuses it.
fn sequence(number: &str) -> Option<u64> {
    let text = BODY.replacen('{', &format!("{{\"sequence\":{number},"), 1);
    event::read(text.as_bytes()).ok().map(|envelope| envelope.sequence.unwrap())
}

/// The same by way of a double.
fn integer_of_double(number: &str) -> Option<u64> {
    let double: f64 = number.parse().unwrap();
    let safe = double.fract() == 0.0 && (0.0..=9_007_199_254_740_991.0).contains(&double);
    safe.then_some(double as u64)
}

/// Half of 0.`digits`, whose first digit is at least 2.
fn halved(digits: &str) -> String {
    let mut carry = 0;
    let half = |digit: char| {
        let sum = carry * 10 + digit.to_digit(10).unwrap();
        carry = sum % 2;
        char::from_digit(sum / 2, 10).unwrap()
    };
    digits.chars().chain(['0']).map(half).collect()
}

#[test]
fn integers_are_what_rounds_to_one() {
    // Half of the smallest double, 2^-1075, rounds to zero; what is above does not.
    let half = halved(format!("{:.1074}", f64::from_bits(1)).trim_start_matches(['0', '.']));
    assert_eq!(half.len(), 752);
    let table = [
        ("1e-400".to_owned(), Some(0)),
        ("-1e-400".to_owned(), Some(0)),
        ("1e-323".to_owned(), None),
        ("-1e-323".to_owned(), None),
        ("2e-324".to_owned(), Some(0)),
        ("3e-324".to_owned(), None),
        ("1e-99999999999999999999".to_owned(), Some(0)),
        (format!("{half}e-1075"), Some(0)),
        (format!("-{half}e-1075"), Some(0)),
        (format!("{half}000e-1078"), Some(0)),
        (format!("{half}001e-1078"), None),
        (format!("0.{}{half}", "0".repeat(323)), Some(0)),
        (format!("0.{}{half}1", "0".repeat(323)), None),
        ("0.99999999999999999999".to_owned(), Some(1)),
        ("0.9999999999999999".to_owned(), None),
        ("-0.99999999999999999999".to_owned(), None),
        ("9007199254740991.4".to_owned(), Some(9_007_199_254_740_991)),
        ("9007199254740991.5".to_owned(), None),
        ("9007199254740990.5".to_owned(), Some(9_007_199_254_740_990)),
        ("9007199254740990.5000000000000000000000000001".to_owned(), Some(9_007_199_254_740_991)),
        ("4503599627370495.5".to_owned(), None),
        ("4503599627370496.5".to_owned(), Some(4_503_599_627_370_496)),
        ("4503599627370497.5".to_owned(), Some(4_503_599_627_370_498)),
        ("9007199254740991000e-3".to_owned(), Some(9_007_199_254_740_991)),
        ("9999999999999999".to_owned(), None),
        (format!("1{}e-400", "0".repeat(400)), Some(1)),
        (format!("0.{}1e401", "0".repeat(400)), Some(1)),
    ];
    for (number, expected) in table {
        assert_eq!(integer_of_double(&number), expected, "{number}");
        assert_eq!(sequence(&number), expected, "{number}");
    }
}

/// `whole + numerator / 2^power`, exactly: its digits before and behind the point.
fn dyadic(whole: u64, numerator: u64, power: u32) -> (String, String) {
    let mut rest = u128::from(numerator);
    let digits = (0..power).map(|_| {
        rest *= 10;
        let digit = (rest >> power) as u32;
        rest &= (1 << power) - 1;
        char::from_digit(digit, 10).unwrap()
    });
    let fraction = digits.collect();
    (whole.to_string(), fraction)
}

/// Integers and what lies closest to them and to the borders at which rounding turns, in several notations.
fn near_integers() -> impl Strategy<Value = String> {
    let whole = (0_u32..=54, any::<u64>()).prop_map(|(bits, random)| random & ((1 << bits) - 1));
    let distance = (1_u32..=62, 0_u64..4, any::<bool>())
        .prop_map(|(power, small, below)| (if below { (1 << power) - small.min(1) } else { small }, power));
    let tail = select(vec!["", "0", "1", "00000000000000000000001", "4999999999999999999"]);
    (whole, distance, tail, 0_usize..4, any::<bool>()).prop_map(
        |(whole, (numerator, power), tail, notation, negative)| {
            let numerator = numerator & ((1 << power) - 1);
            let (integer, mut fraction) = dyadic(whole, numerator, power);
            // The last digit of such a fraction is 5: with this tail instead the number lies just below.
            if tail.starts_with('4') && fraction.ends_with('5') {
                fraction.pop();
            }
            fraction.push_str(tail);
            let digits = format!("{integer}{fraction}");
            let digits = Some(digits.trim_start_matches('0')).filter(|text| !text.is_empty()).unwrap_or("0");
            let number = match notation {
                0 if !fraction.is_empty() => format!("{integer}.{fraction}"),
                1 => format!("0.000{digits}e{}", 3 + digits.len() as i64 - fraction.len() as i64),
                2 if digits != "0" => format!("{digits}000e-{}", fraction.len() + 3),
                _ => format!("{digits}E-{}", fraction.len()),
            };
            if negative { format!("-{number}") } else { number }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn numbers_near_integers_are_read_as_doubles_are(number in near_integers()) {
        prop_assert_eq!(sequence(&number), integer_of_double(&number), "{}", number);
    }

    #[test]
    fn any_number_is_read_as_doubles_are(
        number in "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,25})?([eE][+-]?([0-9]|[12][0-9]|3[0-4][0-9]))?",
        zeros in vec(0_usize..330, 0..2),
    ) {
        let number = zeros.iter().fold(number, |number, count| number.replacen('.', &format!(".{}", "0".repeat(*count)), 1));
        let double: f64 = number.parse().unwrap();
        prop_assert_eq!(check(number.as_bytes(), 0, Duplicates::Allowed).is_ok(), double.is_finite(), "{}", number);
        prop_assert_eq!(sequence(&number), integer_of_double(&number).filter(|_| double.is_finite()), "{}", number);
    }
}
