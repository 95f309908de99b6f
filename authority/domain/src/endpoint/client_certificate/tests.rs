//! What is read of a client certificate, within its lengths, and what is sealed of it.

use super::*;
use crate::body;

fn read_of(value: Value) -> Result<Option<Option<NewClientCertificate>>, Vec<String>> {
    body::read(&json!({ "client_certificate": value }), read).map_err(|refusal| refusal.told())
}

#[test]
fn what_is_sealed_comes_back() {
    let new = read_of(json!({ "certificate": "a\n\"", "private_key": "k\r\n" })).unwrap().unwrap().unwrap();
    let again = NewClientCertificate::of_text(&new.to_text().unwrap()).unwrap();
    assert_eq!(again, new);
    assert_eq!((again.certificate(), again.private_key(), again.shown()), ("a\n\"", "k\r\n", None));
    for text in ["", "{}", "null", r#"{"certificate":"a"}"#, r#"{"x-name":"value"}"#] {
        assert_eq!(NewClientCertificate::of_text(text), None, "{text}");
    }
    assert_eq!(format!("{new:?}"), "NewClientCertificate(None, certificate and key redacted)");
}

#[test]
fn null_and_absence_differ() {
    assert_eq!(read_of(json!(null)), Ok(Some(None)));
    assert_eq!(body::read(&json!({}), read).unwrap(), None);
}

#[test]
fn lengths_have_limits() {
    let most = "c".repeat(TOGETHER_MAX - 1);
    assert!(read_of(json!({ "certificate": most, "private_key": "k" })).is_ok());
    let table = [
        (json!({ "certificate": most, "private_key": "kk" }), " too_long"),
        (json!({ "certificate": "c".repeat(TOGETHER_MAX + 1), "private_key": "k" }), "/certificate too_long"),
        (json!({ "certificate": "", "private_key": "k" }), "/certificate too_short"),
        (json!({ "certificate": ["c"], "private_key": "k" }), "/certificate wrong_type"),
        (json!({ "certificate": "c" }), "/private_key required"),
        (json!({ "certificate": "c", "private_key": null }), "/private_key required"),
        (json!({ "certificate": "c", "private_key": "k", "password": "p" }), "/password unknown_field"),
        (json!("c"), " wrong_type"),
    ];
    for (value, error) in table {
        assert_eq!(read_of(value), Err(vec![format!("/client_certificate{error}")]));
    }
}
