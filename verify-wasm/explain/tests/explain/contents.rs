//! Bodies that are signed rightly and are not events all the same.

use crate::case::{BODY, Case};

/// Everything that can be wrong with what was signed.
pub(crate) fn cases() -> Vec<Case> {
    [texts(), members(), vec![over_limit()]].concat()
}

fn over_limit() -> Case {
    let damage = |case: &mut Case| case.max_body_bytes = BODY.len() as i64 - 1;
    Case::right().when("longer than the verifier's bound", damage, "invalid_payload", &["body_over_limit"])
}

fn signed(name: &str, body: impl AsRef<[u8]>, code: &str, cause: &str) -> Case {
    Case::of(body).when(name, |_| {}, code, &[cause])
}

fn texts() -> Vec<Case> {
    let text = |name, body: &[u8], cause| signed(name, body, "invalid_json", cause);
    vec![
        text("a byte order mark", format!("\u{feff}{BODY}").as_bytes(), "json_bom"),
        text("bytes that are not UTF-8", b"{\"id\":\"\xff\"}", "json_utf8"),
        text("half an event", &BODY.as_bytes()[..90], "json_cut_off"),
        text("blanks only", b"  \n", "json_cut_off"),
        text("two events", format!("{BODY}{BODY}").as_bytes(), "json_trailing"),
        text("a trailing comma", br#"{"id":"evt_1",}"#, "json_syntax"),
        text("single quotes", b"{'id':'evt_1'}", "json_syntax"),
        text("a line end in a string", b"{\"id\":\"a\nb\"}", "json_syntax"),
        text("an unknown escape", br#"{"id":"\x"}"#, "json_syntax"),
        text("NaN", br#"{"a":NaN}"#, "json_syntax"),
        text("nested too deeply", "[".repeat(128).as_bytes(), "json_depth"),
        text("half of a surrogate pair", br#"{"a":"\ud83d"}"#, "json_surrogate"),
        text("a number that is too large", br#"{"a":1e999}"#, "json_number"),
        text("too large to be looked at closely", &[&vec![b' '; 1 << 20][..], b"{"].concat(), "json_syntax"),
    ]
}

fn members() -> Vec<Case> {
    let replaced = |name: &str, from: &str, to: &str, code: &str, cause: &str| {
        let body = BODY.replacen(from, to, 1);
        assert_ne!(body, BODY, "{name}");
        signed(name, body, code, cause)
    };
    let payload = "invalid_payload";
    vec![
        signed("a list of events", format!("[{BODY}]"), payload, "payload_not_object"),
        replaced("a second id", r#""sequence":7"#, r#""\u0069d":"evt_2""#, payload, "member_repeated"),
        replaced("a second slug", r#""slug":"a""#, r#""slug":"a","slug":"a""#, payload, "member_repeated"),
        replaced("a sequence as text", r#""sequence":7"#, r#""sequence":"7""#, payload, "member_type"),
        replaced("half a sequence", r#""sequence":7"#, r#""sequence":7.5"#, payload, "member_form"),
        replaced("links as a list", r#""sequence":7"#, r#""links":[]"#, payload, "member_type"),
        replaced("no id", r#""id":"evt_1","#, "", "invalid_event_id", "member_missing"),
        replaced("another kind of id", "evt_1", "ord_1", "invalid_event_id", "member_form"),
        replaced("a type of one word", "order.confirmed", "order", "invalid_event_type", "member_form"),
        replaced("a type that is null", r#""order.confirmed""#, "null", "invalid_event_type", "member_type"),
        replaced("a day that is not", "2026-09-01\"", "2026-02-30\"", "invalid_api_version", "member_form"),
        replaced("a time with an offset", "00.000Z", "00.000+00:00", "invalid_created_at", "member_form"),
        replaced(
            "a time as a number",
            r#""2026-09-01T12:00:00.000Z""#,
            "1788264000",
            "invalid_created_at",
            "member_type",
        ),
        replaced(
            "a merchant as text",
            r#"{"id":"mer_1","slug":"a"}"#,
            r#""mer_1""#,
            "invalid_merchant",
            "member_type",
        ),
        replaced("a merchant without a slug", r#","slug":"a""#, "", "invalid_merchant", "member_missing"),
        replaced("an empty slug", r#""slug":"a""#, r#""slug":"""#, "invalid_merchant", "member_form"),
        replaced("no data", r#""data":"#, r#""dato":"#, "invalid_data", "member_missing"),
        replaced(
            "data that is text",
            r#""data":{"object":"#,
            r#""data":"x","more":{"object":"#,
            "invalid_data",
            "member_type",
        ),
        replaced("no object in data", r#""object":"#, r#""objekt":"#, "invalid_data", "member_missing"),
        signed(
            "too large to name the member",
            BODY.replace("evt_1", "ord_1").replace("a/b", &"a".repeat(1 << 20)),
            "invalid_event_id",
            "member_form",
        ),
    ]
}
