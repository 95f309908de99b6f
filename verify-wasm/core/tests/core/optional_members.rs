//! Members that an event may have or lack (contract 10.3): counters, `livemode`, `recipient`, `links`.

use crate::members::with;

#[test]
fn counters_are_integers_by_value() {
    let good = "null 0 1 9007199254740991 1.0 1e3 1E+3 1000e-3 -0 -0.0 0e999 9007199254740991.0 \
        0.9007199254740991e16";
    let bad = "-1 1.5 0.1 1e-1 9007199254740992 9007199254740993 308046561248441.032 1e16 1e300 -1e300 \
        18446744073709551617 true \"1\" [] {} [1]";
    for path in ["sequence", "resource_version"] {
        assert_eq!(with(path, None), "ok");
        for value in good.split(' ') {
            assert_eq!(with(path, Some(value)), "ok", "{path} {value}");
        }
        for value in bad.split(' ') {
            assert_eq!(with(path, Some(value)), "invalid_payload", "{path} {value}");
        }
    }
}

#[test]
fn other_optional_members() {
    for value in ["null", "true", "false"] {
        assert_eq!(with("livemode", Some(value)), "ok", "{value}");
    }
    for value in ["0", "1", "\"true\"", "[]", "{}"] {
        assert_eq!(with("livemode", Some(value)), "invalid_payload", "{value}");
    }
    for path in ["recipient", "links"] {
        for value in ["null", "{}", "{\"resource\":1,\"resource\":2}"] {
            assert_eq!(with(path, Some(value)), "ok", "{path} {value}");
        }
        for value in ["0", "true", "false", "\"x\"", "[]", "[{}]"] {
            assert_eq!(with(path, Some(value)), "invalid_payload", "{path} {value}");
        }
    }
}
