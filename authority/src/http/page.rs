//! A page of a list (contract 4.5): `{"data":[…],"next_cursor":"…","resume_cursor":"…"}`.
//!
//! The items are JSON texts, mostly as the store holds them, and are copied without parsing: events must reach
//! their readers byte for byte, and parsing and serializing them again would dominate the cost of a page.

use bytes::{BufMut, Bytes, BytesMut};

use crate::app::List;

/// The page as JSON. Each item is dropped once it is copied.
pub(super) fn into_json(List { items, next_cursor, resume_cursor }: List) -> Bytes {
    let length: usize = items.iter().map(|item| item.len() + 1).sum();
    let mut json = BytesMut::with_capacity(length + 160);
    json.put_slice(b"{\"data\":[");
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            json.put_u8(b',');
        }
        json.put_slice(item.as_bytes());
    }
    json.put_u8(b']');
    for (name, cursor) in [("next_cursor", next_cursor), ("resume_cursor", resume_cursor)] {
        if let Some(cursor) = cursor.and_then(|cursor| serde_json::to_string(&cursor).ok()) {
            json.put_slice(b",\"");
            json.put_slice(name.as_bytes());
            json.put_slice(b"\":");
            json.put_slice(cursor.as_bytes());
        }
    }
    json.put_u8(b'}');
    json.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(items: &[&str], next_cursor: Option<&str>, resume_cursor: Option<&str>) -> String {
        let page = List {
            items: items.iter().map(|item| (*item).to_owned()).collect(),
            next_cursor: next_cursor.map(str::to_owned),
            resume_cursor: resume_cursor.map(str::to_owned),
        };
        String::from_utf8(into_json(page).to_vec()).unwrap()
    }

    #[test]
    fn items_pass_byte_for_byte_and_absent_cursors_leave_no_member() {
        let odd = r#"{ "b":1.0,"a":"\u0041" , "a":2}"#;
        let table = [
            (page(&[], None, None), r#"{"data":[]}"#),
            (page(&["{}"], None, None), r#"{"data":[{}]}"#),
            (page(&["{}", "[]"], Some("AQ"), None), r#"{"data":[{},[]],"next_cursor":"AQ"}"#),
            (page(&["1"], Some("AQ"), Some("Ag")), r#"{"data":[1],"next_cursor":"AQ","resume_cursor":"Ag"}"#),
            (
                page(&[odd], None, Some("Ag")),
                r#"{"data":[{ "b":1.0,"a":"\u0041" , "a":2}],"resume_cursor":"Ag"}"#,
            ),
        ];
        for (written, expected) in table {
            assert_eq!(written, expected);
        }
    }
}
