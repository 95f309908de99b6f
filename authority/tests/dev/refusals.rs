//! Ports and directories that cannot be had: one line on standard error, nothing on standard output.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use crate::process::{command, ended, folder};

#[test]
fn a_port_that_is_taken_is_told_in_one_line() {
    let (_folder, data) = folder();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for variable in ["AUTHORITY_LISTEN", "AUTHORITY_OPERATOR_LISTEN"] {
        let environment = [(variable, address.as_str())];
        let (code, stdout, stderr) = ended(&mut command(&data, &["--once"], &environment));
        let line = format!(
            "authority: {address} is taken: stop what listens there, or set {variable} to another address\n"
        );
        assert_eq!((code, stdout, stderr), (Some(1), String::new(), line));
    }
}

/// Somebody else on this machine may have 8080 already, which is as good as having it here. The other port is held in
/// any case, so that nothing stays up.
#[test]
fn without_once_the_well_known_ports_are_used() {
    let (_folder, data) = folder();
    let _taken = TcpListener::bind("127.0.0.1:8080");
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let operator = held.local_addr().unwrap().to_string();
    let environment = [("AUTHORITY_OPERATOR_LISTEN", operator.as_str())];
    let (code, stdout, stderr) = ended(&mut command(&data, &[], &environment));
    let line = "authority: 127.0.0.1:8080 is taken: stop what listens there, or set AUTHORITY_LISTEN to another address\n";
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(1), "", line));
}

#[test]
fn a_directory_that_cannot_be_used_is_told_in_one_line() {
    type Damage = fn(&Path);
    let cases: [(Damage, i32, &str); 6] = [
        (|data| fs::remove_file(data.join("kek")).unwrap(), 2, "authority: --data: DATA/kek is missing, and"),
        (|data| fs::write(data.join("kek"), "no key").unwrap(), 2, "authority: --data: DATA/kek is not what"),
        (
            |data| fs::write(data.join("dev.json"), "{").unwrap(),
            2,
            "authority: --data: DATA/dev.json is not what",
        ),
        (
            |data| fs::write(data.join("dev.json"), b"\xff").unwrap(),
            2,
            "authority: --data: DATA/dev.json is not what",
        ),
        (
            |data| fs::remove_file(data.join("dev.json")).unwrap(),
            1,
            "authority: POST /merchants answered 422 validation_failed: /slug: is taken: what DATA holds does not fit \
             together",
        ),
        (
            |data| fs::write(data.join("kek"), "q".repeat(42) + "E=").unwrap(),
            1,
            "authority: AUTHORITY_SECRET_KEK: does not open the signing secrets in this database: what DATA holds",
        ),
    ];
    for (damage, expected, beginning) in cases {
        let (_folder, data) = folder();
        assert_eq!(ended(&mut command(&data, &["--once", "--json"], &[])).0, Some(0));
        damage(&data);
        let environment = [("AUTHORITY_LOG", "off")];
        let (code, stdout, stderr) = ended(&mut command(&data, &["--once", "--json"], &environment));
        let beginning = beginning.replace("DATA", data.to_str().unwrap());
        assert!(stderr.starts_with(&beginning), "{beginning}: {stderr}");
        assert_eq!((code, stdout.as_str(), stderr.lines().count()), (Some(expected), "", 1), "{stderr}");
    }
    for (path, problem) in [("a?b", "must be text"), ("/dev/null", "Not a directory")] {
        let (code, stdout, stderr) = ended(&mut command(Path::new(path), &["--once"], &[]));
        assert!(stderr.starts_with("authority: --data: ") && stderr.contains(problem), "{stderr}");
        assert_eq!((code, stdout.as_str(), stderr.lines().count()), (Some(2), "", 1), "{stderr}");
    }
}
