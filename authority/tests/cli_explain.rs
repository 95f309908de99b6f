//! `authority verify --explain`: a refusal's likely causes, for people and for programs, from the real binary.

#![allow(clippy::expect_used, reason = "a test stops at what it did not expect")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;
use verify_core::{Secret, sign};

const SECRET: &str = "whsec_4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M";
const OTHER_SECRET: &str = "whsec_Zk81HvTqLw3PpYdN6cRrXa0GmBf2Jt5SeUoKiCnEq7W";
const BODY: &str = r#"{"id":"evt_1","type":"webhook.test","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","merchant":{"id":"mer_1","slug":"a"},"data":{"object":{}}}"#;
const TIMESTAMP: &str = "1788264000";

/// Exit code, standard output and standard error of `verify` with these arguments, of a delivery signed with `SECRET`.
fn verify(arguments: &[&str], body: &str) -> (Option<i32>, String, String) {
    let secret = Secret::parse(SECRET).expect("usable");
    let signature = sign::signature_header([&secret], TIMESTAMP, BODY.as_bytes());
    let mut child = Command::new(env!("CARGO_BIN_EXE_authority"))
        .args(["verify", "--timestamp", TIMESTAMP, "--event-id", "evt_1"])
        .args(["--signature", &signature])
        .args(arguments)
        .args(if arguments.contains(&"--now") { &[][..] } else { &["--now", TIMESTAMP] })
        .env_clear()
        .envs([("S1", SECRET), ("S2", OTHER_SECRET)])
        .env("LINE_END", format!("{SECRET}\n"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A command that refuses its arguments ends without reading: the pipe may already be closed.
    let _ = child.stdin.take().expect("piped").write_all(body.as_bytes());
    let output = child.wait_with_output().expect("the binary ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    for hidden in [&SECRET[6..], &OTHER_SECRET[6..], &signature[3..]] {
        assert!(
            !stdout.contains(hidden) && !stderr.contains(hidden),
            "{arguments:?} shows a secret: {stdout}"
        );
    }
    (output.status.code(), stdout, stderr)
}

#[test]
fn a_refusal_is_followed_by_its_causes() {
    let (code, stdout, stderr) = verify(&["--secret-env", "S1", "--explain"], &format!("{BODY}\n"));
    assert_eq!((code, stderr.as_str()), (Some(1), ""));
    assert_eq!(
        stdout,
        "invalid_signature\n\nbody_newline\n\
         Seen: The signature is that of the body without the line feed at its end.\n\
         Do:   Hand in the body byte by byte as it arrived, without adding or trimming a line end (files saved by \
         editors, shell variables and readline do).\n"
    );
}

#[test]
fn several_causes_are_numbered() {
    let arguments = ["--secret-env", "S1", "--explain", "--now", "1788264400"];
    let (_, stdout, _) = verify(&arguments, BODY);
    let lines: Vec<_> = stdout.lines().collect();
    assert_eq!(lines.first(), Some(&"stale_timestamp"));
    assert!(lines.contains(&"1. clock_skew") && lines.contains(&"2. old_delivery"), "{stdout}");
    assert!(stdout.contains(
        "   Seen: The timestamp is 400 seconds (6 minutes) before the receiver's time; 300 are tolerated."
    ));
}

#[test]
fn a_valid_delivery_needs_no_explanation() {
    assert_eq!(
        verify(&["--secret-env", "S1", "--explain"], BODY),
        (Some(0), "ok\n".to_owned(), String::new())
    );
    let (code, stdout, _) = verify(&["--secret-env", "S1", "--explain", "--json"], BODY);
    let line: Value = serde_json::from_str(&stdout).expect("one JSON line");
    assert_eq!((code, &line["code"], &line["causes"]), (Some(0), &"ok".into(), &Value::Array(Vec::new())));
}

#[test]
fn programs_get_the_causes_in_the_line() {
    let (code, stdout, _) = verify(&["--secret-env", "LINE_END", "--explain", "--json"], BODY);
    assert_eq!(code, Some(1));
    let line: Value = serde_json::from_str(&stdout).expect("one JSON line");
    assert_eq!(line["code"], "invalid_secret");
    assert_eq!(line["causes"][0]["cause"], "secret_blanks");
    let evidence = "The secret has a line end behind it. Without that, the signature fits.";
    assert_eq!(line["causes"][0]["evidence"], evidence);
    assert!(line["causes"][0]["fix"].as_str().is_some_and(|fix| fix.starts_with("Store the secret")));
}

#[test]
fn other_secrets_are_compared_and_trusted_by_nobody() {
    let arguments =
        ["--secret-env", "S2", "--explain", "--other-secret-env", "S2", "--other-secret-env", "S1"];
    let (code, stdout, _) = verify(&arguments, BODY);
    assert_eq!(code, Some(1));
    assert!(
        stdout.starts_with("invalid_signature\n\nother_secret\nSeen: The signature fits secret 2 of 2"),
        "{stdout}"
    );
}

#[test]
fn wrong_usage_names_the_option() {
    let unset = verify(&["--secret-env", "S1", "--explain", "--other-secret-env", "UNSET"], BODY);
    assert_eq!(unset.2, "authority: --other-secret-env names UNSET, which is not set\n");
    let many = [&["--secret-env", "S1", "--explain"][..], &["--other-secret-env", "S2"].repeat(9)].concat();
    let many = verify(&many, BODY);
    assert_eq!(many.2, "authority: --other-secret-env can be given at most 8 times\n");
    assert_eq!((unset.0, many.0), (Some(2), Some(2)));
    let (code, _, stderr) = verify(&["--secret-env", "S1", "--other-secret-env", "S2"], BODY);
    assert_eq!(code, Some(2));
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}
