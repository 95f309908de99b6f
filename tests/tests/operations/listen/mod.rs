//! `authority listen`: a merchant's test events at a receiver on this machine, without a public URL and without an
//! endpoint (contract 16).

mod routes;
mod secret;

use serde_json::{Value, json};
use tests::{
    Answer, Authority, Database, Down, Merchant, Receiver, on_both_databases, terminate, text, within,
};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

on_both_databases!(events_arrive_verified_and_are_printed);

/// A running session, read line by line.
struct Session {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Session {
    /// Starts one with this merchant's key.
    fn start(authority: &mut Authority, merchant: &Merchant, arguments: &[&str]) -> Self {
        authority.set("AUTHORITY_API_KEY", &merchant.key);
        let url = format!("http://{}", authority.merchant_address());
        let mut child = authority.begin(&[&["listen", "--url", &url], arguments].concat());
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    async fn line(&mut self) -> String {
        within("a line", self.lines.next_line()).await.unwrap().expect("it goes on")
    }

    async fn json(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    /// Ends it as Ctrl-C does; what it said on standard error.
    async fn stop(mut self) -> String {
        terminate(&self.child);
        let mut said = String::new();
        within("its end", self.child.stderr.take().unwrap().read_to_string(&mut said)).await.unwrap();
        assert_eq!(self.child.wait().await.unwrap().code(), Some(0), "{said}");
        said
    }
}

async fn events_arrive_verified_and_are_printed(database: Database) {
    let (mut authority, merchant) = Merchant::on(database, "developer").await;
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.number == 2 { 422 } else { 200 })).await;
    merchant.checkout().await;
    let target = receiver.url("/hook?a=b");
    let mut session = Session::start(&mut authority, &merchant, &["--forward-to", &target]);
    assert_eq!(session.line().await, format!("Forwarding test events to {target}"));
    let secret = session.line().await.strip_prefix("Signing secret: ").unwrap().to_owned();
    assert!(secret.starts_with("whsec_") && secret.len() == 49);
    assert_eq!((session.line().await, session.line().await), ("Ctrl-C stops.".to_owned(), String::new()));
    // What was before the session is not sent; what comes is, in its order, whatever the receiver answers.
    merchant.paid_order().await;
    let events = merchant.events().await.split_off(1);
    for (n, event) in events.iter().enumerate() {
        let status = if n == 1 { 422 } else { 200 };
        let line = session.line().await;
        let told = format!("POST {} {} -> {status} (", text(event, "type"), text(event, "id"));
        assert!(line.contains(&told) && line.ends_with(" ms)"), "{line}");
    }
    let arrivals = receiver.arrivals().all;
    assert_eq!(arrivals.len(), events.len(), "none twice");
    for (arrival, event) in arrivals.iter().zip(&events) {
        let stored = merchant.api.get(&format!("/events/{}", text(event, "id"))).await.body;
        assert_eq!((&arrival.body, &arrival.event_id), (&stored, &text(event, "id")));
        assert_eq!(arrival.verify(&secret).unwrap().id, text(event, "id"));
        for (name, value) in [
            ("service-version", "2026-09-01"),
            ("service-attempt", "1"),
            ("content-type", "application/json"),
            ("user-agent", "Service-Webhooks/1"),
        ] {
            assert_eq!(arrival.header(name), value, "{name}");
        }
    }
    let said = session.stop().await;
    assert!(!said.contains("whsec_") && !said.contains(&merchant.key), "{said}");
    // It has left nothing behind: no endpoint, no delivery.
    assert_eq!(merchant.api.get("/webhook-endpoints").await.expect(200)["data"], json!([]));
    assert_eq!(authority.operator().get("/deliveries").await.expect(200)["data"], json!([]));
    assert!(!authority.log().contains(&secret));
}

#[tokio::test]
async fn a_session_goes_on_where_another_ended() {
    let (mut authority, merchant) = Merchant::alone("again").await;
    let receiver = Receiver::accepting().await;
    merchant.paid_order().await;
    let target = receiver.url("/hook");
    let secret = "whsec_4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M";
    authority.set("HOOK_SECRET", secret);
    let arguments =
        ["--forward-to", &target, "--secret-env", "HOOK_SECRET", "--events", "order.*,checkout.created"];
    let mut session =
        Session::start(&mut authority, &merchant, &[&arguments[..], &["--from", "start", "--json"]].concat());
    // The receiver knows a secret that a variable names: it is not printed.
    let opened = json!({ "listening": true, "forward_to": [{ "type": null, "url": target }] });
    assert_eq!(session.json().await, opened);
    for event_type in ["checkout.created", "order.created", "order.confirmed"] {
        let line = session.json().await;
        let expected = json!({
            "type": event_type, "id": line["id"], "sequence": line["sequence"], "method": "POST", "url": target,
            "status": 200, "outcome": "success", "duration_ms": line["duration_ms"],
        });
        assert_eq!(line, expected);
    }
    let said = session.stop().await;
    let position = said.trim_end().rsplit_once("--from ").expect("where to go on").1.to_owned();
    merchant.checkout().await;
    let mut session =
        Session::start(&mut authority, &merchant, &[&arguments[..], &["--from", &position]].concat());
    let mut heading = Vec::new();
    while !heading.last().is_some_and(|line: &String| line.contains("POST checkout.created")) {
        heading.push(session.line().await);
    }
    assert!(!heading.concat().contains("whsec_"), "{heading:?}");
    session.stop().await;
    let arrivals = receiver.arrivals();
    assert_eq!(
        arrivals.types_at("/hook"),
        ["checkout.created", "order.created", "order.confirmed", "checkout.created"]
    );
    assert!(arrivals.all.iter().all(|arrival| arrival.verify(secret).is_ok()));
}

/// The receiver is not there yet, and the authority is away for a while: both are told, and the session goes on.
#[tokio::test]
async fn a_session_outlives_the_absence_of_either_side() {
    let mut authority = Authority::start(&[]).await;
    // The same address after a restart.
    let address = authority.merchant_address();
    let down = Down::new();
    let merchant = Merchant::create(&authority, "patient").await;
    let target = down.url("/hook");
    let mut session = Session::start(&mut authority, &merchant, &["--forward-to", &target, "--json"]);
    let opened = session.json().await;
    assert!(opened["listening"] == true && text(&opened, "secret").starts_with("whsec_"), "{opened}");
    merchant.checkout().await;
    let line = session.json().await;
    assert_eq!((&line["status"], &line["outcome"]), (&Value::Null, &json!("connect_error")));
    let receiver = down.up(|_| Answer::status(200));
    authority.terminate().await;
    let mut errors = BufReader::new(session.child.stderr.take().unwrap()).lines();
    let told = within("the trouble", errors.next_line()).await.unwrap().unwrap();
    assert!(told.ends_with("; trying again"), "{told}");
    authority.set("AUTHORITY_LISTEN", &address);
    authority.restart().await;
    merchant.checkout().await;
    assert_eq!(session.json().await["status"], 200);
    assert_eq!(receiver.arrivals().all.len(), 1);
    terminate(&session.child);
    assert_eq!(session.child.wait().await.unwrap().code(), Some(0));
}

#[tokio::test]
async fn what_cannot_work_is_told_in_one_line() {
    let (mut authority, merchant) = Merchant::alone("wrong").await;
    let live = merchant.issue_key("live", &["events:read"]).await;
    let blind = merchant.issue_key("test", &["orders:read"]).await;
    let url = format!("http://{}", authority.merchant_address());
    let good = "http://127.0.0.1:9/hook";
    let unknown = format!("--forward-to=orders.*={good}");
    let twice = format!("order.created={good}");
    let table: [(&str, &[&str], i32, &str); 13] = [
        (&merchant.key, &[&unknown], 2, "takes an event type or category.*: is order.* meant?"),
        (
            &merchant.key,
            &["--forward-to", &twice, "--forward-to", &twice],
            2,
            "order.created is given more than once",
        ),
        (&merchant.key, &["--forward-to", "https://hooks.example.com/"], 2, "--forward-to must be"),
        (&merchant.key, &["--forward-to", "http://10.0.0.1/"], 2, "--forward-to must be"),
        (&merchant.key, &["--forward-to", good, "--events", "order"], 2, "--events must be"),
        (&merchant.key, &["--forward-to", good, "--secret-env", "NOT_SET"], 2, "--secret-env names NOT_SET"),
        (&merchant.key, &["--forward-to", good, "--from", "nonsense"], 1, "400 invalid_cursor"),
        (&merchant.key, &["--forward-to", good, "--header", "no-colon"], 2, "--header must be NAME:VALUE"),
        (&merchant.key, &["--forward-to", good, "--header", "Host:x"], 2, "--header cannot set host"),
        (&merchant.key, &["--forward-to", good, "--print-secret"], 2, "cannot be used with"),
        (&live, &["--forward-to", good], 2, "AUTHORITY_API_KEY must hold a test key"),
        (&blind, &["--forward-to", good], 1, "403 insufficient_scope"),
        ("svc_test_x", &["--forward-to", good], 1, "401 invalid_api_key"),
    ];
    for (key, arguments, code, told) in table {
        authority.set("AUTHORITY_API_KEY", key);
        let said = authority.refuses(&[], &[&["listen", "--url", &url], arguments].concat(), code).await;
        assert!(said.contains(told) && !said.contains(key), "{said}");
    }
    authority.unset("AUTHORITY_API_KEY");
    let ended = authority.run(&["listen", "--forward-to", good]).await;
    assert_eq!(ended.status.code(), Some(2));
}

/// The receiver was started with another secret: the session says what is wrong, once, and the headers that were asked
/// for come along.
#[tokio::test]
async fn a_refused_signature_is_explained() {
    let (mut authority, merchant) = Merchant::alone("refused").await;
    let receiver =
        Receiver::start(|_| Answer::status(401).with_body(r#"{"code":"invalid_signature"}"#)).await;
    let target = receiver.url("/hook");
    let headers = ["--header", "X-Tenant: acme", "--header", "Authorization:Bearer t"];
    let arguments = [&["--forward-to", &target, "--from", "start"][..], &headers].concat();
    merchant.paid_order().await;
    let mut session = Session::start(&mut authority, &merchant, &arguments);
    let mut lines = Vec::new();
    while lines.iter().filter(|line: &&String| line.contains(" -> 401 invalid_signature (")).count() < 6 {
        lines.push(session.line().await);
    }
    session.stop().await;
    let text = lines.join("\n");
    for told in [
        "The receiver refused the delivery. Likely causes:",
        "1. other_secret\n   Seen: The receiver answered 401 invalid_signature, although the delivery verifies",
        "Does the receiver use the secret that `listen` printed?",
        "2. body_reserialized\n",
    ] {
        assert_eq!(text.matches(told).count(), 1, "{told:?} in {text}");
    }
    let arrivals = receiver.arrivals().all;
    assert!(arrivals.iter().all(|arrival| {
        (arrival.header("x-tenant"), arrival.header("authorization")) == ("acme", "Bearer t")
    }));

    let mut session = Session::start(&mut authority, &merchant, &[&arguments[..], &["--json"]].concat());
    session.json().await;
    let line = session.json().await;
    assert_eq!((&line["status"], &line["code"]), (&json!(401), &json!("invalid_signature")));
    assert_eq!(line["causes"][0]["cause"], "other_secret");
    session.stop().await;
}
