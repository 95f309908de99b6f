//! Secrets, signature header, timestamp header and configuration (contract 10.1, 10.5, 10.6, 10.7).

use crate::delivery::{BODY, Delivery, NOW, S1, S2};
use base64::Engine;
use verify_core::{BodyLimit, ConfigError, Secret, Tolerance, UnusableSecret, Verifier, header};

const GOOD: &str = "885c9a72f68a9c6eb1d1e063bc1795894d0fcfe1b1417a571e569d957ee16abe";

fn with_signature(value: impl AsRef<[u8]>) -> &'static str {
    let mut delivery = Delivery::of(BODY);
    delivery.signature = Some(value.as_ref().to_vec());
    delivery.verdict()
}

fn with_timestamp(value: impl AsRef<[u8]>) -> &'static str {
    // Signed as it stands, so that only the header's form and age decide.
    let mut delivery = Delivery::of(BODY);
    let signature = Secret::parse(S1).unwrap().sign(value.as_ref(), BODY.as_bytes());
    delivery.signature = Some([b"v1=".as_slice(), &signature].concat());
    delivery.timestamp = Some(value.as_ref().to_vec());
    delivery.verdict()
}

#[test]
fn signature_headers_without_a_value_are_missing() {
    let mut absent = Delivery::of(BODY);
    absent.signature = None;
    assert_eq!(absent.verdict(), "missing_signature");
    for blank in ["", " ", "\t", " \t  \t", &" ".repeat(16_385)] {
        assert_eq!(with_signature(blank), "missing_signature", "{blank:?}");
    }
}

#[test]
fn signature_headers_that_match() {
    let zeros = "0".repeat(64);
    let many_bad = format!("v1={zeros},").repeat(100);
    let longest = format!("v1={GOOD},{}", "x".repeat(16_384 - 68));
    assert_eq!(longest.len(), 16_384);
    let fine = [
        format!("v1={GOOD}"),
        format!(" v1={zeros} ,\tv1={GOOD} "),
        format!("t=1,v0=x,v1={GOOD},v2=y"),
        format!("{many_bad}v1={GOOD}"),
        format!("v1={GOOD},{}", many_bad.trim_end_matches(',')),
        format!("v1={zeros}, v1={GOOD}"),
        format!("v1={GOOD},v1={GOOD}"),
        format!(",,v1={GOOD},"),
        format!("x,v1={GOOD}"),
        // What is trimmed is no part of the value and does not count.
        format!(" {longest}\t"),
        longest,
    ];
    for value in fine {
        assert_eq!(with_signature(&value), "ok", "{value}");
    }
}

#[test]
fn signature_headers_that_do_not_match() {
    let bytes = hex::decode(GOOD).unwrap();
    let wrong = [
        ",".to_owned(),
        format!("v0={GOOD}"),
        GOOD.to_owned(),
        format!("v11={GOOD}"),
        "v1=".to_owned(),
        format!("v1= {GOOD}"),
        format!("v1 ={GOOD}"),
        format!("v1=\"{GOOD}\""),
        format!("V1={GOOD}"),
        format!("v1={}", GOOD.to_uppercase()),
        format!("v1={}", GOOD.replacen('c', "C", 1)),
        format!("v1={}", &GOOD[..63]),
        // As long as a candidate, and none.
        format!("v1={},", &GOOD[..63]),
        format!("v1={},{}", &GOOD[..31], &GOOD[32..]),
        format!("v1={GOOD}0"),
        format!("v1=0{GOOD}"),
        format!("v1={}", base64::engine::general_purpose::STANDARD.encode(&bytes)),
        format!("v1=x;v1={GOOD}"),
        format!("v1=x v1={GOOD}"),
        format!("\u{a0}v1={GOOD}"),
        format!("\u{feff}v1={GOOD}"),
        format!("v1={GOOD}\n"),
        format!("v1={GOOD}\r"),
        format!("v1={GOOD}\u{a0}"),
        format!("v1={}", "\0".repeat(64)),
        format!("v1={GOOD},{}", "x".repeat(16_384 - 67)),
    ];
    for value in wrong {
        assert_eq!(with_signature(&value), "invalid_signature", "{value}");
    }
    assert_eq!(with_signature([b"v1=".as_slice(), &bytes].concat()), "invalid_signature");
    assert_eq!(with_signature([b"v1=".as_slice(), &[0xff; 64]].concat()), "invalid_signature");
}

#[test]
fn timestamps_that_are_not_ten_digits() {
    let mut absent = Delivery::of(BODY);
    absent.timestamp = None;
    assert_eq!(absent.verdict(), "invalid_timestamp");
    let wrong = "178826400 17882640000 1788264000000 +178826400 -178826400 178826400. 1788264e03 0x6a95c3c0 \
        178_826400 ١٧٨٨٢٦٤٠٠٠ １７８８２６４０００ 178826400/ 178826400:";
    let with_blanks = [
        "",
        " 1788264000",
        "1788264000 ",
        "178826400 ",
        "17882 6400",
        "1788264000\n",
        "\t788264000",
        "1788264000, 1788264000",
    ];
    for value in wrong.split(' ').chain(with_blanks) {
        assert_eq!(with_timestamp(value), "invalid_timestamp", "{value:?}");
    }
    assert_eq!(with_timestamp(b"\xff788264000"), "invalid_timestamp");
}

#[test]
fn timestamps_and_the_clock() {
    for far in ["0000000000", "0178826400", "9999999999"] {
        assert_eq!(with_timestamp(far), "stale_timestamp", "{far}");
    }
    for tolerance in [1, 2, 300, 3599, 3600] {
        for (offset, expected) in [
            (0, "ok"),
            (tolerance, "ok"),
            (-tolerance, "ok"),
            (tolerance + 1, "stale_timestamp"),
            (-tolerance - 1, "stale_timestamp"),
        ] {
            let mut delivery = Delivery::of(BODY);
            delivery.tolerance = tolerance;
            delivery.now = NOW + offset;
            assert_eq!(delivery.verdict(), expected, "{tolerance} {offset}");
        }
    }
    for now in [i64::MIN, -1, 0, i64::MAX] {
        let mut delivery = Delivery::of(BODY);
        delivery.now = now;
        assert_eq!(delivery.verdict(), "stale_timestamp", "{now}");
    }
}

#[test]
fn event_id_headers_must_equal_byte_for_byte() {
    let mut absent = Delivery::of(BODY);
    absent.event_id = None;
    assert_eq!(absent.verdict(), "event_id_mismatch");
    for (value, expected) in [
        ("evt_1", "ok"),
        ("", "event_id_mismatch"),
        ("evt_", "event_id_mismatch"),
        ("evt_11", "event_id_mismatch"),
        ("EVT_1", "event_id_mismatch"),
        (" evt_1", "event_id_mismatch"),
        ("evt_1 ", "event_id_mismatch"),
        ("evt_1, evt_1", "event_id_mismatch"),
        ("evt\\u005f1", "event_id_mismatch"),
    ] {
        let mut delivery = Delivery::of(BODY);
        delivery.event_id = Some(value.as_bytes().to_vec());
        assert_eq!(delivery.verdict(), expected, "{value:?}");
    }
    // The member is compared as it is meant, escapes resolved.
    assert_eq!(Delivery::of(BODY.replace("evt_1", "evt\\u005f1")).verdict(), "ok");
}

#[test]
fn usable_and_unusable_secrets() {
    let longest = format!("whsec_{}", "x".repeat(506));
    let printable = format!("whsec_{}", (0x21..=0x7e).map(char::from).collect::<String>());
    for text in ["whsec_x", "whsec_whsec_", S1, &longest, &printable] {
        assert!(Secret::parse(text).is_ok(), "{text:?}");
        let mut delivery = Delivery::of(BODY);
        delivery.secrets.push(text.to_owned());
        assert_eq!(delivery.verdict(), "ok", "{text:?}");
    }
    let too_long = format!("whsec_{}", "x".repeat(507));
    let inner = S1.replacen('8', " ", 1);
    let unusable = [
        "",
        "whsec_",
        "whsec",
        "WHSEC_x",
        "Whsec_x",
        " whsec_x",
        "whsec_x ",
        "whsec_x\n",
        "whsec_x\r\n",
        "whsec_\t",
        "whsec_x\0",
        "whsec_\u{7f}",
        "whsec_é",
        "\u{feff}whsec_x",
        "svc_live_x",
        &inner,
        &too_long,
    ];
    for text in unusable {
        assert_eq!(Secret::parse(text).unwrap_err(), UnusableSecret, "{text:?}");
        let mut delivery = Delivery::of(BODY);
        delivery.secrets.push(text.to_owned());
        assert_eq!(delivery.verdict(), "invalid_secret", "{text:?}");
    }
    let mut none = Delivery::of(BODY);
    none.secrets.clear();
    assert_eq!(none.verdict(), "invalid_secret");
}

#[test]
fn configuration_that_cannot_be_meant_is_refused_at_construction() {
    for seconds in [i64::MIN, -300, -1, 0, 3601, 4_294_967_596, i64::MAX] {
        assert_eq!(Tolerance::new(seconds), Err(ConfigError::ToleranceOutOfRange), "{seconds}");
    }
    for seconds in [1, 300, 3600] {
        assert_eq!(i64::from(Tolerance::new(seconds).unwrap().seconds()), seconds);
    }
    assert_eq!(Tolerance::default(), Tolerance::new(300).unwrap());
    for bytes in [i64::MIN, -1, 0, (256 << 20) + 1, i64::MAX] {
        assert_eq!(BodyLimit::new(bytes), Err(ConfigError::BodyLimitOutOfRange), "{bytes}");
    }
    for bytes in [1, 16 << 20, 256 << 20] {
        assert_eq!(i64::from(BodyLimit::new(bytes).unwrap().bytes()), bytes);
    }
    assert_eq!(BodyLimit::default(), BodyLimit::new(16 << 20).unwrap());
    assert!(Verifier::new(&[S1; 8], Tolerance::DEFAULT).is_ok());
    assert_eq!(Verifier::new(&[S1; 9], Tolerance::DEFAULT).unwrap_err(), ConfigError::TooManySecrets);
    assert_eq!(Verifier::new(&["whsec_"; 9], Tolerance::DEFAULT).unwrap_err(), ConfigError::TooManySecrets);
}

#[test]
fn debug_output_holds_no_secret() {
    let verifier = Verifier::new(&[S1, S2], Tolerance::DEFAULT).unwrap();
    let shown = format!("{verifier:?} {:?}", Secret::parse(S1).unwrap());
    assert_eq!(shown.matches("Secret(redacted)").count(), 3);
    assert!(
        !shown.contains("whsec_")
            && !shown.contains("3M")
            && !shown.contains('['.to_string().repeat(2).as_str())
    );
}

#[test]
fn header_lines_become_one_value() {
    let join = |lines: &[&str]| {
        header::join_lines(lines.iter().map(|line| line.as_bytes()))
            .map(|value| String::from_utf8(value).unwrap())
    };
    assert_eq!(join(&[]), None);
    assert_eq!(join(&[""]).as_deref(), Some(""));
    assert_eq!(join(&[" \t"]).as_deref(), Some(""));
    assert_eq!(join(&[" a b\t"]).as_deref(), Some("a b"));
    assert_eq!(join(&["a", "b"]).as_deref(), Some("a, b"));
    assert_eq!(join(&[" a", "b "]).as_deref(), Some("a, b"));
    assert_eq!(join(&["", ""]).as_deref(), Some(","));
    assert_eq!(join(&["\u{a0}a"]).as_deref(), Some("\u{a0}a"));

    let bad = format!("v1={}", "0".repeat(64));
    let good = format!("v1={GOOD}");
    assert_eq!(with_signature(join(&[&bad, &good]).unwrap()), "ok");
    assert_eq!(with_timestamp(join(&["1788264000", "1788264000"]).unwrap()), "invalid_timestamp");
}
