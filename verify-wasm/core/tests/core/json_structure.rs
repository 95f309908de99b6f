//! Nesting, roots and duplicate names (contract 10.4).

use crate::delivery::BODY;
use crate::json_text::{holding, read};

#[test]
fn nesting() {
    let nested = |depth: usize, open: &str, close: &str| {
        // The root, data and object are three.
        holding(&format!("{}0{}", open.repeat(depth - 3), close.repeat(depth - 3)))
    };
    assert_eq!(read(nested(127, "[", "]")), "ok");
    assert_eq!(read(nested(128, "[", "]")), "invalid_json");
    assert_eq!(read(nested(127, "{\"a\":", "}")), "ok");
    assert_eq!(read(nested(128, "{\"a\":", "}")), "invalid_json");
    // Arrays and objects count alike, in every object that is interpreted.
    let mixed = |pairs: usize| format!("{}0{}", "[{\"a\":".repeat(pairs), "}]".repeat(pairs));
    assert_eq!(read(holding(&mixed(62))), "ok");
    assert_eq!(read(holding(&format!("[{}]", mixed(62)))), "invalid_json");
    let inside = |object: &str, value: &str| {
        BODY.replacen(&format!("\"{object}\":{{"), &format!("\"{object}\":{{\"x\":{value},"), 1)
    };
    for object in ["merchant", "data"] {
        assert_eq!(read(inside(object, &format!("[{}]", mixed(62)))), "ok", "{object}");
        assert_eq!(read(inside(object, &mixed(63))), "invalid_json", "{object}");
    }
    // What was left counts no more.
    let siblings = "[[]],{\"a\":{}},".repeat(200);
    assert_eq!(read(holding(&format!("[{siblings}0]"))), "ok");
    // Also beside the members that are interpreted, and at the root.
    let beside =
        |depth: usize| BODY.replacen('{', &format!("{{\"x\":{}{},", "[".repeat(depth), "]".repeat(depth)), 1);
    assert_eq!(read(beside(126)), "ok");
    assert_eq!(read(beside(127)), "invalid_json");
    assert_eq!(read("[".repeat(127) + &"]".repeat(127)), "invalid_payload");
    assert_eq!(read("[".repeat(128) + &"]".repeat(128)), "invalid_json");
    // A million levels cost no stack, open or closed.
    assert_eq!(read("[".repeat(1_000_000)), "invalid_json");
    assert_eq!(read("[".repeat(1_000_000) + &"]".repeat(1_000_000)), "invalid_json");
    assert_eq!(read("{\"a\":".repeat(1_000_000)), "invalid_json");
}

#[test]
fn roots_that_are_no_object() {
    for root in ["1", "-0", "\"x\"", "true", "false", "null", "[]", "[1]", &format!("[{BODY}]")] {
        assert_eq!(read(root), "invalid_payload", "{root}");
    }
    assert_eq!(read("1e999"), "invalid_json");
    assert_eq!(read("[1"), "invalid_json");
    assert_eq!(read("{}"), "invalid_event_id");
}

#[test]
fn duplicate_names() {
    let root = |members: &str| BODY.replacen('{', &format!("{{{members},"), 1);
    let inside = |object: &str, members: &str| {
        let open = format!("\"{object}\":{{");
        BODY.replacen(&open, &format!("{open}{members},"), 1)
    };
    let refused = [
        root(r#""id":"evt_1""#),
        root(r#""\u0069d":"evt_1""#),
        root(r#""type":null"#),
        root(r#""merchant":null"#),
        root(r#""data":{"object":{}}"#),
        root(r#""data":null"#),
        root(r#""x":1,"x":1"#),
        root(r#""x":1,"y":2,"\u0078":1"#),
        root(r#""":1,"":1"#),
        root(r#""links":null,"links":null"#),
        root(r#""é":1,"\u00e9":1"#),
        root(r#""🛒":1,"\ud83d\uded2":1"#),
        root(r#""/":1,"\/":1"#),
        inside("merchant", r#""id":"mer_1""#),
        inside("merchant", r#""slu\u0067":"a""#),
        inside("merchant", r#""x":1,"x":1"#),
        inside("data", r#""object":{}"#),
        inside("data", r#""share":{},"share":{}"#),
    ];
    for text in refused {
        assert_eq!(read(&text), "invalid_payload", "{text}");
    }
    let allowed = [
        root(r#""x":{"a":1,"a":2}"#),
        root(r#""x":1,"X":1"#),
        root(r#""x":1,"x ":1"#),
        root(r#""slug":1,"object":1"#),
        root(r#""\\u0069d":1"#),
        root(r#""links":{"a":1,"a":2},"recipient":{"a":1,"a":2}"#),
        inside("merchant", r#""type":1,"x":{"id":1,"id":2}"#),
        inside("data", r#""id":1,"x":[{"id":1,"id":2}]"#),
        BODY.replace(r#"{"object":{}}"#, r#"{"object":{"a":1,"a":2}}"#),
    ];
    for text in allowed {
        assert_eq!(read(&text), "ok", "{text}");
    }
    // Escapes are resolved before a name is known at all; an object of a wrong type has no names.
    assert_eq!(read(BODY.replace("\"id\"", r#""\u0069d""#).replace("\"data\"", r#""d\u0061ta""#)), "ok");
    assert_eq!(
        read(BODY.replace(r#"{"id":"mer_1","slug":"a"}"#, r#"[{"id":1,"id":2}]"#)),
        "invalid_merchant"
    );
    // A name that repeats is worse than a member that is wrong, and better than a text that is not JSON.
    assert_eq!(read(root(r#""sequence":"1","x":1,"x":1"#).replace("evt_1", "?")), "invalid_payload");
    assert_eq!(read(root(r#""x":1,"x":1e999"#)), "invalid_json");
}

#[test]
fn many_names_are_told_apart() {
    let names: Vec<_> = (0..20_000).map(|n| format!("\"n{}\":0", n * 7919 % 20_011)).collect();
    let text = BODY.replacen('{', &format!("{{{},", names.join(",")), 1);
    assert_eq!(read(&text), "ok");
    let text = BODY.replacen('{', &format!("{{{},{},", names.join(","), names[9_999]), 1);
    assert_eq!(read(&text), "invalid_payload");
}
