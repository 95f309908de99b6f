//! Headers that did not arrive as they were sent, and clocks.

use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::case::{Case, NOW};

/// Everything that can happen to a header.
pub(crate) fn cases() -> Vec<Case> {
    [absent(), timestamps(), clocks(), signatures(), event_ids()].concat()
}

/// One of the three headers, and the code of a delivery without it.
type Header = (fn(&mut Case) -> &mut Option<String>, &'static str);

const TIMESTAMP: Header = (|case| &mut case.timestamp, "invalid_timestamp");
const SIGNATURE: Header = (|case| &mut case.signature, "missing_signature");
const EVENT_ID: Header = (|case| &mut case.event_id, "event_id_mismatch");

fn right_but(name: &str, damage: impl FnOnce(&mut Case), code: &str, causes: &[&str]) -> Case {
    Case::right().when(name, damage, code, causes)
}

/// The header has this value instead of its own, or none.
fn valued(name: &str, (header, code): Header, value: Option<&str>, cause: &str) -> Case {
    right_but(name, |case| *header(case) = value.map(str::to_owned), code, &[cause])
}

/// These headers are not there, and another line is. The first of them decides.
fn instead(name: &str, absent: &[Header], line: (&str, &str), cause: &str) -> Case {
    let damage = |case: &mut Case| {
        absent.iter().for_each(|(header, _)| *header(case) = None);
        case.line(line.0, line.1);
    };
    right_but(name, damage, absent[0].1, &[cause])
}

fn absent() -> Vec<Case> {
    let all = [TIMESTAMP, SIGNATURE, EVENT_ID];
    let none = |case: &mut Case| all.iter().for_each(|(header, _)| *header(case) = None);
    let other_profile = ("webhook-signature", "v1,AAAA");
    vec![
        right_but("no header at all", none, "invalid_timestamp", &["not_a_delivery"]),
        instead("another service's webhook", &all, ("Stripe-Signature", "t=1,v1=2"), "not_a_delivery"),
        instead("the headers of the other profile alone", &all, other_profile, "not_a_delivery"),
        valued("the timestamp was dropped", TIMESTAMP, None, "header_dropped"),
        valued("the signature was dropped", SIGNATURE, None, "header_dropped"),
        valued("the event id was dropped", EVENT_ID, None, "header_dropped"),
        instead(
            "headers are CGI variables",
            &all,
            ("HTTP_SERVICE_TIMESTAMP", "1788264000"),
            "header_renamed",
        ),
        instead(
            "a proxy renamed the signature",
            &[SIGNATURE],
            ("X-Service-Signature", "v1="),
            "header_renamed",
        ),
        valued("a blank timestamp", TIMESTAMP, Some(""), "header_blank"),
        valued("a blank signature", SIGNATURE, Some(" "), "header_blank"),
        valued("a blank event id", EVENT_ID, Some(""), "header_blank"),
    ]
}

fn timestamps() -> Vec<Case> {
    let stamped = |name: &str, value: &str, cause: &str| valued(name, TIMESTAMP, Some(value), cause);
    vec![
        stamped("milliseconds", "1788264000000", "timestamp_unit"),
        stamped("microseconds", "1788264000000000", "timestamp_unit"),
        stamped("nanoseconds", "1788264000000000000", "timestamp_unit"),
        stamped("a date of ISO 8601", "2026-09-01T12:00:00Z", "timestamp_date"),
        stamped("a date of HTTP", "Tue, 01 Sep 2026 12:00:00 GMT", "timestamp_date"),
        stamped("two timestamps", "1788264000, 1788264000", "header_repeated"),
        stamped("nine digits", "178826400", "timestamp_form"),
        stamped("a fraction of seconds", "1788264000.25", "timestamp_form"),
        stamped("a quoted timestamp", "\"1788264000\"", "timestamp_form"),
    ]
}

fn clocks() -> Vec<Case> {
    let at = |name: &str, offset: i64, causes: &[&str]| {
        right_but(name, |case| case.now = NOW + offset, "stale_timestamp", causes)
    };
    let now = |name: &str, now: i64| right_but(name, |case| case.now = now, "stale_timestamp", &["now_unit"]);
    vec![
        at("the receiver's clock is fast", 400, &["clock_skew", "old_delivery"]),
        at("the receiver's clock is slow", -400, &["clock_skew"]),
        at("held up for an hour", 3_700, &["old_delivery", "clock_skew"]),
        at("two hours east", 7_201, &["time_zone", "clock_skew"]),
        at("five and a half hours west", -19_799, &["time_zone", "clock_skew"]),
        at("a recording of last month", 30 * 86_400, &["old_delivery", "clock_skew"]),
        at("far in the future", -30 * 86_400, &["clock_skew"]),
        now("now in milliseconds where seconds are meant", NOW * 1000),
        now("now in seconds where milliseconds are meant", NOW / 1000),
        right_but(
            "stale, and changed as well",
            |case| {
                case.now += 400;
                case.body.as_mut().unwrap().push(b'\n');
            },
            "stale_timestamp",
            &["clock_skew", "old_delivery"],
        ),
    ]
}

fn signatures() -> Vec<Case> {
    let written = |name: &str, write: fn(&str) -> String, cause: &str| {
        let damage = |case: &mut Case| {
            let header = case.signature.take().unwrap();
            case.signature = Some(write(header.strip_prefix("v1=").unwrap()));
        };
        right_but(name, damage, "invalid_signature", &[cause])
    };
    let zeros = "0".repeat(64);
    vec![
        written("capital digits", |digits| format!("v1={}", digits.to_uppercase()), "signature_uppercase"),
        written("base64", |digits| format!("v1={}", base64(digits)), "signature_base64"),
        written(
            "as Standard Webhooks write it",
            |digits| format!("v1,{}", base64(digits)),
            "signature_base64",
        ),
        written("bare digits", str::to_owned, "signature_prefix_missing"),
        written("as GitHub writes it", |digits| format!("sha256={digits}"), "signature_scheme"),
        written("quotation marks", |digits| format!("\"v1={digits}\""), "signature_quoted"),
        written("semicolons", |digits| format!("v0=x;v1={digits}"), "signature_separator"),
        written("a blank inside", |digits| format!("v1= {digits}"), "signature_separator"),
        written("a capital V", |digits| format!("V1={digits}"), "signature_scheme"),
        written(
            "the right digits under v0, others under v1",
            |digits| format!("v0={digits},v1={}", "0".repeat(64)),
            "signature_scheme",
        ),
        written("cut off", |digits| format!("v1={}", &digits[..40]), "signature_cut_off"),
        written("nothing behind v1=", |_| "v1=".to_owned(), "signature_cut_off"),
        written("a digit too many", |digits| format!("v1={digits}0"), "signature_form"),
        written("not hexadecimal", |_| "v1=hello".to_owned(), "signature_form"),
        written("no signature at all", |_| "hello".to_owned(), "signature_form"),
        written("only commas", |_| ",,".to_owned(), "signature_form"),
        written("far too long", |digits| format!("{}v1={digits}", ",".repeat(16_384)), "signature_too_long"),
        right_but(
            "a right one that does not fit, and one cut off",
            |case| case.signature = Some(format!("v1={zeros},v1=00")),
            "invalid_signature",
            &["signature_cut_off", "other_secret_or_bytes"],
        ),
        right_but(
            "capital digits, and a changed body",
            |case| {
                case.body.as_mut().unwrap().push(b'\n');
                case.signature =
                    case.signature.take().map(|header| header.to_uppercase().replace("V1=", "v1="));
            },
            "invalid_signature",
            &["body_newline", "signature_uppercase"],
        ),
    ]
}

fn base64(digits: &str) -> String {
    BASE64_STANDARD.encode(hex::decode(digits).unwrap())
}

fn event_ids() -> Vec<Case> {
    let named = |name: &str, value: &str, cause: &str| valued(name, EVENT_ID, Some(value), cause);
    vec![
        named("a quoted id", "\"evt_1\"", "event_id_quoted"),
        named("two id headers", "evt_1, evt_1", "header_repeated"),
        named("another id", "evt_2", "event_id_differs"),
        named("another letter case", "EVT_1", "event_id_differs"),
        named("the delivery's id", "dlv_1", "event_id_differs"),
    ]
}
