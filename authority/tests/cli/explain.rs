//! `authority verify --explain`: a refusal's likely causes, for people and for programs.

use serde_json::Value;

use crate::{BODY, DIGEST, Ended, TIMESTAMP, assert_ended, authority};

/// `verify` of a delivery that was signed over body B with `SECRET`.
fn verify(arguments: &str, body: &str) -> Ended {
    let now = if arguments.contains("--now") { String::new() } else { format!(" --now {TIMESTAMP}") };
    let signed = format!("--timestamp {TIMESTAMP} --event-id evt_1 --signature v1={DIGEST}");
    let line = format!("verify {signed} {arguments}{now}");
    let ended = authority(&line.split(' ').collect::<Vec<_>>(), body.as_bytes());
    assert!(!ended.stdout.contains(DIGEST) && !ended.stderr.contains(DIGEST), "{line} shows it: {ended:?}");
    ended
}

#[test]
fn a_refusal_is_followed_by_its_causes() {
    assert_ended(
        &verify("--secret-env S1 --explain", &format!("{BODY}\n")),
        1,
        "invalid_signature\n\nbody_newline\n\
         Seen: The signature is that of the body without the line feed at its end.\n\
         Do:   Hand in the body byte by byte as it arrived, without adding or trimming a line end (files saved by \
         editors, shell variables and readline do).\n",
        "",
    );
}

#[test]
fn several_causes_are_numbered() {
    let stdout = verify("--secret-env S1 --explain --now 1788264400", BODY).stdout;
    let lines: Vec<_> = stdout.lines().collect();
    assert_eq!(lines.first(), Some(&"stale_timestamp"));
    assert!(lines.contains(&"1. clock_skew") && lines.contains(&"2. old_delivery"), "{stdout}");
    assert!(stdout.contains(
        "   Seen: The timestamp is 400 seconds (6 minutes) before the receiver's time; 300 are tolerated."
    ));
}

#[test]
fn a_valid_delivery_needs_no_explanation() {
    assert_ended(&verify("--secret-env S1 --explain", BODY), 0, "ok\n", "");
    let ended = verify("--secret-env S1 --explain --json", BODY);
    let line: Value = serde_json::from_str(&ended.stdout).expect("one JSON line");
    assert_eq!(
        (ended.code, &line["code"], &line["causes"]),
        (Some(0), &"ok".into(), &Value::Array(Vec::new()))
    );
}

#[test]
fn programs_get_the_causes_in_the_line() {
    let ended = verify("--secret-env LINE_END --explain --json", BODY);
    assert_eq!(ended.code, Some(1));
    let line: Value = serde_json::from_str(&ended.stdout).expect("one JSON line");
    assert_eq!(line["code"], "invalid_secret");
    assert_eq!(line["causes"][0]["cause"], "secret_blanks");
    let evidence = "The secret has a line end behind it. Without that, the signature fits.";
    assert_eq!(line["causes"][0]["evidence"], evidence);
    assert!(line["causes"][0]["fix"].as_str().is_some_and(|fix| fix.starts_with("Store the secret")));
}

#[test]
fn other_secrets_are_compared_and_trusted_by_nobody() {
    let ended = verify("--secret-env S2 --explain --other-secret-env S2 --other-secret-env S1", BODY);
    assert_eq!(ended.code, Some(1));
    let found = "invalid_signature\n\nother_secret\nSeen: The signature fits secret 2 of 2";
    assert!(ended.stdout.starts_with(found), "{ended:?}");
}

#[test]
fn wrong_usage_names_the_option() {
    let unset = verify("--secret-env S1 --explain --other-secret-env UNSET", BODY);
    assert_ended(&unset, 2, "", "authority: --other-secret-env names UNSET, which is not set\n");
    let many = verify(&format!("--secret-env S1 --explain{}", " --other-secret-env S2".repeat(9)), BODY);
    assert_ended(&many, 2, "", "authority: --other-secret-env can be given at most 8 times\n");
    let unexplained = verify("--secret-env S1 --other-secret-env S2", BODY);
    assert_eq!((unexplained.code, unexplained.stderr.lines().count()), (Some(2), 1), "{unexplained:?}");
}
