//! The command line through its front door: the real binary, its exit codes and what it prints (contract 16).

#![allow(clippy::expect_used, reason = "a test stops at what it did not expect")]

mod explain;
mod usage;
mod vectors;

use std::io::Write as _;
use std::process::{Command, Stdio};

const SECRET: &str = "whsec_4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M";
const OTHER_SECRET: &str = "whsec_Zk81HvTqLw3PpYdN6cRrXa0GmBf2Jt5SeUoKiCnEq7W";
const BASE64_SECRET: &str = "whsec_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
/// Body B of contract 10.8 with its digests under the two secrets.
const BODY: &str = r#"{"id":"evt_1","type":"webhook.test","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","merchant":{"id":"mer_1","slug":"a"},"data":{"object":{}}}"#;
const DIGEST: &str = "885c9a72f68a9c6eb1d1e063bc1795894d0fcfe1b1417a571e569d957ee16abe";
const OTHER_DIGEST: &str = "2a742b6f437dce72605ba70d533604586fce1d552f6300a952ee9ba1ded9fc1f";
const TIMESTAMP: &str = "1788264000";

#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs `authority` with `SECRET`, `OTHER_SECRET` and a few wrong secrets in an otherwise empty environment. Whatever
/// happens, no secret may appear in what it prints.
fn authority(arguments: &[&str], body: &[u8]) -> Ended {
    let mut child = Command::new(env!("CARGO_BIN_EXE_authority"))
        .args(arguments)
        .env_clear()
        .envs([("S1", SECRET), ("S2", OTHER_SECRET), ("PREFIX_ONLY", "whsec_"), ("EMPTY", "")])
        .env("BASE64", BASE64_SECRET)
        .env("LINE_END", format!("{SECRET}\n"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A command that refuses its arguments ends without reading: the pipe may already be closed.
    let _ = child.stdin.take().expect("piped").write_all(body);
    let output = child.wait_with_output().expect("the binary ends");
    let ended = Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    };
    for secret in [SECRET, OTHER_SECRET, BASE64_SECRET] {
        let tail = secret.trim_start_matches("whsec_");
        assert!(
            !ended.stdout.contains(tail) && !ended.stderr.contains(tail),
            "{arguments:?} shows a secret: {ended:?}"
        );
    }
    ended
}

/// The same for arguments with blanks between them and body B.
fn run(line: &str) -> Ended {
    authority(&line.split(' ').collect::<Vec<_>>(), BODY.as_bytes())
}

fn signed(secrets: &str) -> Ended {
    run(&format!("sign --timestamp {TIMESTAMP} {secrets}"))
}

/// `verify` of body B as it was signed, with these arguments added.
fn verified(arguments: &str) -> Ended {
    let signed = format!("--signature v1={DIGEST} --timestamp {TIMESTAMP} --event-id evt_1");
    run(&format!("verify {signed} --now {TIMESTAMP} {arguments}"))
}

#[track_caller]
fn assert_ended(ended: &Ended, code: i32, stdout: &str, stderr: &str) {
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(code), stdout, stderr));
}

#[test]
fn signs_with_every_secret_newest_first() {
    assert_ended(&signed("--secret-env S1"), 0, &format!("v1={DIGEST}\n"), "");
    let both = signed("--secret-env S2 --secret-env S1");
    assert_ended(&both, 0, &format!("v1={OTHER_DIGEST},v1={DIGEST}\n"), "");
    let json = signed("--secret-env S1 --json");
    assert_ended(&json, 0, &format!("{{\"signature\":\"v1={DIGEST}\",\"timestamp\":\"{TIMESTAMP}\"}}\n"), "");
}

#[test]
fn the_profile_of_standard_webhooks_is_signed_and_verified() {
    const PROFILE: &str = "--profile standard-webhooks --secret-env BASE64";
    // By Python's hmac and base64, over `evt_1.1788264000.` and the body.
    const SIGNATURE: &str = "v1,qd7MLiaxUQfYs/iAhzFHnhhZxfwnIoa5A8wMeWhSn5A=";
    assert_ended(&signed(&format!("--event-id evt_1 {PROFILE}")), 0, &format!("{SIGNATURE}\n"), "");
    let verify = |id: &str| {
        let times = format!("--timestamp {TIMESTAMP} --now {TIMESTAMP}");
        run(&format!("verify {times} --event-id {id} --signature {SIGNATURE} {PROFILE}"))
    };
    assert_ended(&verify("evt_1"), 0, "ok\n", "");
    assert_ended(&verify("evt_2"), 1, "invalid_signature\n", "");
    let refused = |ended: &Ended, message: &str| {
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(message), "{ended:?}");
    };
    let without_id = signed(PROFILE);
    refused(&without_id, "--profile standard-webhooks signs the event's id: give it by --event-id");
    let with_id = signed("--secret-env S1 --event-id evt_1");
    refused(&with_id, "--event-id is signed with --profile standard-webhooks only");
    let other_form = signed("--event-id evt_1 --profile standard-webhooks --secret-env S1");
    refused(&other_form, "S1 does not hold a usable signing secret (whsec_ and base64)");
    let explained = run(&format!("verify --explain {PROFILE}"));
    refused(&explained, "--explain knows the profile service only");
    let unknown = run("verify --secret-env S1 --profile svix");
    refused(&unknown, "--profile <PROFILE> must be one of service, standard-webhooks");
}

#[test]
fn signs_the_exact_bytes() {
    let arguments = ["sign", "--secret-env", "S1", "--timestamp", TIMESTAMP];
    let with_line_end = authority(&arguments, format!("{BODY}\n").as_bytes());
    let digest = "444047454f819b1e6cc5318819003900fdeb51f7da1480f7752e463e0b6f456b";
    assert_ended(&with_line_end, 0, &format!("v1={digest}\n"), "");
    let empty = authority(&arguments, b"");
    assert_ended(&empty, 0, "v1=18101f105b3e09f7643d2b9338b01b9c3db82e5e6949d047895b2d714d1e3ece\n", "");
}

#[test]
fn what_sign_signs_verify_verifies() {
    let header = signed("--secret-env S2 --secret-env S1").stdout;
    for trusted in ["S1", "S2"] {
        let times = format!("--timestamp {TIMESTAMP} --now {TIMESTAMP}");
        let signed = format!("{times} --event-id evt_1 --signature {}", header.trim_end());
        assert_ended(&run(&format!("verify --secret-env {trusted} {signed}")), 0, "ok\n", "");
    }
}

#[test]
fn verify_prints_the_code_and_ends_with_one() {
    for (arguments, code) in [
        ("S1", "invalid_timestamp"),
        ("S1 --timestamp 178826400", "invalid_timestamp"),
        ("S1 --timestamp 1788264000 --now 1788264301", "stale_timestamp"),
        ("S1 --timestamp 1788264000 --now -1", "stale_timestamp"),
        ("S1 --timestamp 1788264000 --now 1788264000", "missing_signature"),
        ("S1 --timestamp 1788264000 --now 1788264000 --signature v1=00", "invalid_signature"),
        ("PREFIX_ONLY", "invalid_secret"),
        ("EMPTY", "invalid_secret"),
        ("LINE_END", "invalid_secret"),
        ("S1 --secret-env EMPTY", "invalid_secret"),
        // The machine's clock is far from the timestamp of 2001.
        ("S1 --timestamp 1000000000", "stale_timestamp"),
    ] {
        assert_ended(&run(&format!("verify --secret-env {arguments}")), 1, &format!("{code}\n"), "");
    }
    assert_ended(&authority(&["verify", "--secret-env", "S1"], b""), 1, "missing_body\n", "");
}

/// A sender may write anything into a header (contract 10.7).
#[test]
fn a_value_may_begin_with_a_hyphen() {
    let headers = format!("--event-id -evt_1 --now {TIMESTAMP} --secret-env S1");
    let early = run(&format!("verify --timestamp -178826400 --signature v1={DIGEST} {headers}"));
    assert_ended(&early, 1, "invalid_timestamp\n", "");
    let unsigned = run(&format!("verify --timestamp {TIMESTAMP} --signature -v1 {headers}"));
    assert_ended(&unsigned, 1, "invalid_signature\n", "");
}

#[test]
fn verify_takes_tolerance_rotation_and_json() {
    assert_ended(&verified("--secret-env S1"), 0, "ok\n", "");
    assert_ended(&verified("--secret-env S2 --secret-env S1"), 0, "ok\n", "");
    assert_ended(&verified("--secret-env S2"), 1, "invalid_signature\n", "");
    let json = verified("--secret-env S1 --json");
    let value: serde_json::Value = serde_json::from_str(&json.stdout).expect("one JSON line");
    assert_eq!(
        value,
        serde_json::json!({"code": "ok", "event": {
            "id": "evt_1", "type": "webhook.test", "api_version": "2026-09-01",
            "created_at": "2026-09-01T12:00:00.000Z", "sequence": null, "resource_version": null, "livemode": null,
            "merchant": {"id": "mer_1", "slug": "a"},
        }})
    );
    assert_ended(&verified("--secret-env S2 --json"), 1, "{\"code\":\"invalid_signature\"}\n", "");

    let at = |times: &str| {
        let signed = format!("--signature v1={DIGEST} --timestamp {TIMESTAMP} --event-id evt_1");
        run(&format!("verify --secret-env S1 {signed} {times}"))
    };
    assert_ended(&at("--now 1788264001 --tolerance 1"), 0, "ok\n", "");
    assert_ended(&at("--now 1788264002 --tolerance 1"), 1, "stale_timestamp\n", "");
    assert_ended(&at("--now 1788260400 --tolerance 3600"), 0, "ok\n", "");
}

#[test]
fn a_reader_that_has_gone_ends_the_command_silently() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_authority"))
        .args(["sign", "--secret-env", "S1", "--timestamp", TIMESTAMP])
        .env_clear()
        .env("S1", SECRET)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // The command writes only after its input has ended, so closing its output first is in time.
    drop(child.stdout.take());
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("the binary ends");
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert_eq!((output.status.code(), stderr.as_str()), (Some(1), ""));
}
