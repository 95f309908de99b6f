//! What `--once` prints and leaves behind, and what the next run makes of it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::process::{command, ended, folder, kept, mode, secrets};

const SUMMARY: &str = r#"{"events_emitted":17,"delivered":17,"verified":17,"claimed":17,"duplicates_suppressed":1,"rejected":{"invalid_signature":2,"stale_timestamp":1},"lost":0}"#;

/// Contract 3.9 rows 1, 2, 10, 13, 14, 15, 16 and 22.
const TYPES: &str = "checkout.created payment.created checkout.completed order.created payment.succeeded \
                     order.confirmed shipment.created order.shipped shipment.delivered order.delivered \
                     refund.requested order.updated refund.processing refund.completed \
                     payment.partially_refunded order.updated webhook.test";

#[test]
fn once_with_json_prints_the_ready_line_and_the_summary() {
    let (_folder, data) = folder();
    let environment = [("AUTHORITY_LOG", "trace")];
    let (code, stdout, stderr) = ended(&mut command(&data, &["--once", "--json"], &environment));
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let lines: Vec<&str> = stdout.lines().collect();
    let [ready, summary] = lines[..] else { panic!("{stdout}") };
    let ready: Value = serde_json::from_str(ready).unwrap();
    assert_eq!(ready["ready"], true);
    for api in ["merchant_api", "operator_api"] {
        assert!(ready[api].as_str().unwrap().starts_with("http://127.0.0.1:"), "{ready}");
    }
    assert_eq!(summary, SUMMARY);
    for secret in secrets(&data) {
        assert!(!stdout.contains(&secret) && !stderr.contains(&secret), "a secret is shown");
    }
}

#[test]
fn the_directory_is_closed_to_others_and_to_git() {
    let (_folder, data) = folder();
    assert_eq!(ended(&mut command(&data, &["--once", "--json"], &[])).0, Some(0));
    let modes = [mode(&data), mode(&data.join("kek")), mode(&data.join("dev.json"))];
    assert_eq!(modes, [0o700, 0o600, 0o600]);
    assert_eq!(fs::read_to_string(data.join(".gitignore")).unwrap(), "*\n");
}

#[test]
fn a_directory_that_was_there_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(ended(&mut command(folder.path(), &["--once", "--json"], &[])).0, Some(0));
    assert_eq!(mode(folder.path()), 0o755);
    assert!(!folder.path().join(".gitignore").exists());
    assert_eq!(mode(&folder.path().join("kek")), 0o600);
}

#[test]
fn the_next_run_goes_on_with_the_same_keys_and_counts_its_own_events() {
    let (_folder, data) = folder();
    let mut before = None;
    for run in 0..3 {
        let (code, stdout, stderr) = ended(&mut command(&data, &["--once", "--json"], &[]));
        assert_eq!((code, stdout.lines().last()), (Some(0), Some(SUMMARY)), "run {run}: {stderr}");
        let mut kept = kept(&data);
        let cursor = kept["events_cursor"].take();
        let state = (kept, fs::read(data.join("kek")).unwrap());
        if let Some((before, before_cursor)) = before.replace((state.clone(), cursor.clone())) {
            assert_eq!(state, before);
            assert_ne!(cursor, before_cursor);
        }
    }
}

#[test]
fn a_person_sees_every_event_in_its_order_and_every_answer() {
    let (_folder, data) = folder();
    let (code, stdout, stderr) = ended(&mut command(&data, &["--once"], &[]));
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let events: Vec<(u64, &str)> = stdout
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [event_type, id, "sequence", sequence] = words[..] else { return None };
            assert!(id.starts_with("evt_"), "{line}");
            Some((sequence.parse().unwrap(), event_type))
        })
        .collect();
    assert_eq!(events, (1..).zip(TYPES.split(' ')).collect::<Vec<_>>());
    for line in [
        "  a duplicate        -> 200 duplicate",
        "  an altered body    -> 401 invalid_signature",
        "  a stale timestamp  -> 401 stale_timestamp",
        "  a wrong secret     -> 401 invalid_signature",
        "Events: 17 emitted, 17 delivered, 17 verified, 17 claimed, 0 lost",
        "Duplicates suppressed: 1",
        "Rejected: 2 invalid_signature, 1 stale_timestamp",
    ] {
        assert!(stdout.lines().any(|printed| printed == line), "{line:?} is missing in {stdout}");
    }
    assert!(secrets(&data).iter().all(|secret| !stdout.contains(secret)), "--once shows no keys: {stdout}");
}

/// A receiver with another secret than its endpoint accepts nothing. The command waits its 30 s for what cannot come.
#[test]
fn the_exit_code_is_one_when_something_did_not_hold() {
    let (_folder, data) = folder();
    assert_eq!(ended(&mut command(&data, &["--once", "--json"], &[])).0, Some(0));
    let mut kept = kept(&data);
    *kept.pointer_mut("/endpoint/secret").unwrap() = format!("whsec_{}", "0".repeat(43)).into();
    fs::write(data.join("dev.json"), kept.to_string()).unwrap();
    let environment = [("AUTHORITY_LOG", "off")];
    let (code, stdout, stderr) = ended(&mut command(&data, &["--once", "--json"], &environment));
    let summary: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    let counts = ["events_emitted", "delivered", "verified", "claimed", "lost"].map(|name| &summary[name]);
    assert_eq!((code, counts), (Some(1), [17, 0, 0, 0, 17].map(Value::from).each_ref()), "{stderr}");
    assert!(
        stderr.starts_with("authority: not everything held: 0 of 17 events were delivered; "),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}
