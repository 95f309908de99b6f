//! What the command line says to wrong usage, and its help.

use crate::{Ended, SECRET, TIMESTAMP, assert_ended, authority, run};

#[test]
fn wrong_usage_is_one_line_that_names_the_option_and_ends_with_two() {
    let told = |ended: Ended, line: &str| {
        assert_eq!(ended.stderr, format!("authority: {line}\n"));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{line}");
    };
    told(authority(&[], b""), "a command is missing: see authority --help");
    told(authority(&[SECRET], b""), "no such command: see authority --help");
    let not_ten = authority(&["sign", "--secret-env", "S1", "--timestamp", "1788264000 "], b"");
    told(not_ten, "--timestamp must be Unix seconds in exactly ten digits");
    for secret in [SECRET, ""] {
        let ended = authority(&["sign", "--secret-env", secret, "--timestamp", TIMESTAMP], b"");
        told(ended, "--secret-env takes the name of an environment variable, never the secret");
    }
    for (arguments, line) in [
        ("sing", "no such command: is sign meant?"),
        ("sign", "--secret-env <NAME>, --timestamp <T> is missing"),
        ("sign --secret-env S1", "--timestamp <T> is missing"),
        ("sign --timestamp T", "--secret-env <NAME> is missing"),
        (
            "sign --secret-env S1 --timestamp 178826400",
            "--timestamp must be Unix seconds in exactly ten digits",
        ),
        ("sign --secret-env UNSET --timestamp T", "--secret-env names UNSET, which is not set"),
        ("sign --secret-env EMPTY --timestamp T", "EMPTY does not hold a usable signing secret (whsec_…)"),
        (
            "sign --secret-env LINE_END --timestamp T",
            "LINE_END does not hold a usable signing secret (whsec_…)",
        ),
        ("sign --secret SECRET", "--secret is not an option here: is --secret-env meant?"),
        ("sign --secret=SECRET", "--secret is not an option here: is --secret-env meant?"),
        ("sign --timestamp T --timestamp T", "--timestamp <T> is given more than once"),
        (
            "sign --secret-env S1 --timestamp T SECRET",
            "unexpected argument: everything is given by options, and secrets by the environment",
        ),
        ("verify", "<--secret-env <NAME>|--vectors <FILE>> is missing"),
        ("verify --secret-env UNSET", "--secret-env names UNSET, which is not set"),
        ("verify --secret-env S1 --now SECRET", "--now <N> has no usable value"),
        ("verify --secret-env S1 --tolerance 0", "--tolerance must be 1 to 3600 seconds"),
        ("verify --secret-env S1 --tolerance 3601", "--tolerance must be 1 to 3600 seconds"),
        ("verify --secret-env S1 --tolerance -300", "--tolerance must be 1 to 3600 seconds"),
        ("verify --secret-env S1 --tolerance", "--tolerance <N> has no usable value"),
        ("verify --secret-env S1 --vectors f", "--secret-env <NAME> cannot be used with --vectors <FILE>"),
        ("verify --vectors f --now 1", "--vectors <FILE> cannot be used with --now <N>"),
        (&format!("verify{}", " --secret-env S1".repeat(9)), "--secret-env can be given at most 8 times"),
    ] {
        told(run(&arguments.replace("SECRET", SECRET).replace(" T", &format!(" {TIMESTAMP}"))), line);
    }
}

#[test]
fn help_and_version_go_to_standard_output() {
    for arguments in [&["--help"] as &[&str], &["sign", "--help"], &["verify", "--help"]] {
        let ended = authority(arguments, b"");
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        assert!(ended.stdout.contains("Usage: authority"), "{ended:?}");
    }
    assert_ended(
        &authority(&["--version"], b""),
        0,
        &format!("authority {}\n", env!("CARGO_PKG_VERSION")),
        "",
    );
}
