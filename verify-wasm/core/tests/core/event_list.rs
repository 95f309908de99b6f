//! Pages of the event list, taken apart.

use std::borrow::Cow;

use proptest::prelude::*;
use verify_core::event;
use verify_core::event_list::{NotAPage, Page, problem_code, read};

fn page<'t>(events: &[&'t str], next: Option<&'t str>, resume: Option<&'t str>) -> Page<'t> {
    Page { events: events.to_vec(), next_cursor: next.map(Cow::from), resume_cursor: resume.map(Cow::from) }
}

#[test]
fn pages() {
    for (text, expected) in [
        (r#"{"data":[]}"#, page(&[], None, None)),
        (r#"{"data":[],"next_cursor":"","resume_cursor":null}"#, page(&[], None, None)),
        (r#"{"data":[{"id":"evt_1"}],"next_cursor":"a"}"#, page(&[r#"{"id":"evt_1"}"#], Some("a"), None)),
        (
            " { \"resume_cursor\" : \"\\u0062\" , \"data\" : [ {\"a\" : 1 } ,\n[],\t\"x\" ] , \"more\":{\"data\":[]} } ",
            page(&["{\"a\" : 1 }", "[]", "\"x\""], None, Some("b")),
        ),
    ] {
        assert_eq!(read(text.as_bytes()), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_no_page() {
    for text in [
        "",
        "null",
        "[]",
        "{}",
        r#"{"data":{}}"#,
        r#"{"data":null}"#,
        r#"{"data":[],"data":[]}"#,
        r#"{"data":[],"next_cursor":7}"#,
        r#"{"data":[],"next_cursor":"a","next_cursor":"b"}"#,
        r#"{"data":[{}"#,
        r#"{"data":[{},]}"#,
        r#"{"data":[,{}]}"#,
        r#"{"data":[{} {}]}"#,
        r#"{"data":[}"#,
        r#"{"data":[{}],}"#,
        r#"{"data":[]} x"#,
        r#"{"data":["\ud800"]}"#,
        "<html>502 Bad Gateway</html>",
    ] {
        assert_eq!(read(text.as_bytes()), Err(NotAPage), "{text}");
    }
    assert_eq!(read(b"{\"data\":[\"\xff\"]}"), Err(NotAPage));
}

#[test]
fn an_event_may_be_as_deep_in_a_page_as_it_may_be_alone() {
    for (depth, is_page) in [(127, true), (128, false)] {
        let event = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let text = format!(r#"{{"data":[{event}]}}"#);
        assert_eq!(read(text.as_bytes()).is_ok(), is_page, "{depth}");
    }
}

#[test]
fn the_code_of_a_problem() {
    for (text, code) in [
        (r#"{"type":"urn:x","code":"cursor_expired","status":410}"#, Some("cursor_expired")),
        (r#"{"errors":[{"code":"inner"}],"code":"outer"}"#, Some("outer")),
        (r#"{"code":7}"#, None),
        (r#"{"code":null}"#, None),
        (r#"["code"]"#, None),
        ("gone", None),
        ("", None),
    ] {
        assert_eq!(problem_code(text.as_bytes()).as_deref(), code, "{text}");
    }
}

proptest! {
    /// Every event comes out byte for byte as it went in, whatever stands around it.
    #[test]
    fn events_come_out_as_they_went_in(
        ids in prop::collection::vec("[0-9a-z]{1,20}", 0..6),
        notes in prop::collection::vec(any::<String>(), 6),
        blank in "[ \n\r\t]{0,3}",
        cursor in "[A-Za-z0-9_-]{1,60}",
    ) {
        let events: Vec<String> = ids.iter().zip(&notes).map(|(id, note)| {
            let note = serde_json::to_string(note).unwrap();
            format!(
                r#"{{"id":"evt_{id}","type":"order.updated","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z",{blank}"merchant":{{"id":"mer_1","slug":"a"}},"data":{{"object":{{"note":{note}}}}}}}"#
            )
        }).collect();
        let list = events.join(&format!("{blank},{blank}"));
        let text = format!(r#"{blank}{{"next_cursor":"{cursor}",{blank}"data":[{blank}{list}{blank}]{blank}}}"#);
        let page = read(text.as_bytes()).unwrap();
        prop_assert_eq!(&page.events, &events);
        prop_assert_eq!(page.next_cursor.as_deref(), Some(cursor.as_str()));
        for (event, id) in page.events.iter().zip(&ids) {
            prop_assert_eq!(event::read(event.as_bytes()).unwrap().id, format!("evt_{id}"));
        }
    }

    /// A page that was cut off is never taken for a shorter one.
    #[test]
    fn a_page_that_is_cut_off_is_none(at in 0..100_usize) {
        let text = r#"{"data":[{"id":"evt_1"},{"id":"evt_2"}],"next_cursor":"abc","resume_cursor":"abcdefghijklm"}"#;
        prop_assume!(at < text.len());
        prop_assert_eq!(read(&text.as_bytes()[..at]), Err(NotAPage));
    }

    #[test]
    fn arbitrary_bytes_make_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
        let _ = problem_code(&bytes);
    }
}
