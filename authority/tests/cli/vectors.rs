//! `verify --vectors`: all verification vectors at once.

use std::io::Write as _;
use std::path::PathBuf;

use crate::{Ended, SECRET, assert_ended, authority};

#[test]
fn every_vector_passes() {
    let vectors = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/verification.json");
    let file = vectors.to_str().expect("a path in UTF-8");
    assert_ended(&authority(&["verify", "--vectors", file], b""), 0, "129 passed, 0 failed\n", "");
    let json = authority(&["verify", "--vectors", file, "--json"], b"");
    assert_ended(&json, 0, "{\"failed\":0,\"passed\":129}\n", "");
}

#[test]
fn a_vector_that_does_not_hold_is_named_and_counted() {
    let case = |name: &str, expect: &str| {
        serde_json::json!({"name": name, "expect": expect, "body_base64": null, "timestamp": null, "signature": null,
            "event_id": null, "secrets": [SECRET], "now": 0, "tolerance": 300})
    };
    let cases = serde_json::json!({"cases": [case("right", "missing_body"), case("wrong", "ok")]});
    let ended = with_vector_file(cases.to_string().as_bytes());
    assert_ended(&ended, 1, "1 passed, 1 failed\n", "wrong: expected ok, got missing_body\n");
}

#[test]
fn an_unusable_vector_file_is_refused() {
    let case = serde_json::json!({"name": "a", "expect": "ok", "body_base64": "", "timestamp": null, "signature": null,
        "event_id": null, "secrets": [], "now": 0, "tolerance": 300});
    let altered = |member: &str, value: serde_json::Value| {
        let mut case = case.clone();
        case[member] = value;
        serde_json::json!({ "cases": [case] }).to_string()
    };
    let files = [
        (String::new(), "--vectors is not a vector file (line 1, column 0)"),
        (format!("{{\"cases\": \"{SECRET}\"}}"), "--vectors is not a vector file (line 1, column 61)"),
        ("{\"cases\": []}".to_owned(), "--vectors holds no case"),
        (altered("body_base64", "*".into()), "--vectors case \"a\" has a body that is not base64"),
        (altered("tolerance", 0.into()), "--vectors case \"a\" has a tolerance outside 1 to 3600"),
        (altered("secrets", vec![SECRET; 9].into()), "--vectors case \"a\" has too many secrets"),
    ];
    for (content, line) in files {
        assert_ended(&with_vector_file(content.as_bytes()), 2, "", &format!("authority: {line}\n"));
    }
    let missing = authority(&["verify", "--vectors", "/nowhere/vectors.json"], b"");
    assert_ended(
        &missing,
        2,
        "",
        "authority: --vectors cannot be read: No such file or directory (os error 2)\n",
    );
}

fn with_vector_file(content: &[u8]) -> Ended {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(content).expect("written");
    authority(&["verify", "--vectors", file.path().to_str().expect("a path in UTF-8")], b"")
}
