//! `authority delivery tail`: every attempt, as it ends (contract 16). That of events is among the other commands.

use serde_json::{Value, json};
use tests::{Answer, Authority, Database, Merchant, Receiver, on_both_databases, terminate, within};
use tokio::io::{AsyncBufReadExt as _, BufReader};

on_both_databases!(attempts_are_tailed);

/// What a line says of an attempt.
fn told(line: &Value) -> (&Value, &Value, &Value, &Value) {
    let (delivery, attempt) = (&line["delivery"], &line["attempt"]);
    (&delivery["event_type"], &attempt["number"], &attempt["outcome"], &attempt["response_status"])
}

async fn attempts_are_tailed(database: Database) {
    let (authority, merchant) = Merchant::on(database, "tailed").await;
    // The first attempt fails, the second succeeds; then everything does.
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.number == 1 { 503 } else { 200 })).await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.*"]).await;
    merchant.checkout().await;
    authority.nothing_pending().await;
    let tail = ["delivery", "tail", "--merchant", "tailed", "--endpoint", &endpoint.id];
    let run = async |more: &[&str]| authority.prints(&[&tail[..], more].concat()).await;
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let (name, failed, success) = (json!("checkout.created"), json!("http_error"), json!("success"));
    let lines: Vec<Value> = run(&["--once", "--json"]).await.lines().map(parsed).collect();
    let expected = [(&name, &json!(1), &failed, &json!(503)), (&name, &json!(2), &success, &json!(200))];
    assert_eq!(lines.iter().map(told).collect::<Vec<_>>(), expected);
    let delivery = &lines[0]["delivery"];
    assert_eq!((&delivery["endpoint_id"], &delivery["attempts"]), (&json!(endpoint.id), &Value::Null));
    let last: Vec<Value> = run(&["--once", "--json", "--last", "1"]).await.lines().map(parsed).collect();
    assert_eq!(last, lines[1..]);
    assert_eq!(run(&["--once", "--json", "--last", "0"]).await, "");

    let table = run(&["--once"]).await;
    let cells = |line: &str| {
        line.split("  ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty())
            .map(ToOwned::to_owned)
            .collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = table.lines().map(cells).collect();
    assert_eq!(rows[0], ["WHEN", "OUTCOME", "STATUS", "LATENCY", "EVENT TYPE", "ENDPOINT ID", "ATTEMPT"]);
    assert_eq!((rows.len(), &rows[1][1..3]), (3, &["http_error".to_owned(), "503".to_owned()][..]));
    let milliseconds = rows[1][3].strip_suffix(" ms").unwrap();
    assert!(milliseconds.parse::<u32>().is_ok() && rows[1][0].ends_with(" ago"), "{table}");
    assert!(!table.contains('\u{1b}'), "no colour in a pipe");

    let mut following = authority.begin(&[&tail[..], &["--last", "1", "--json"]].concat());
    let mut printed = BufReader::new(following.stdout.take().unwrap()).lines();
    let mut next = async || within("an attempt", printed.next_line()).await.unwrap().unwrap();
    assert_eq!(parsed(&next().await), lines[1]);
    merchant.checkout().await;
    let line = parsed(&next().await);
    assert_eq!(told(&line), (&name, &json!(1), &success, &json!(200)));
    assert_eq!(line["delivery"]["status"], "succeeded");
    terminate(&following);
    assert_eq!(within("the end", following.wait()).await.unwrap().code(), Some(0));
}

/// A delivery that waits for its next attempt is not forgotten.
#[tokio::test]
async fn the_attempts_of_one_delivery_come_one_by_one() {
    let (authority, merchant) = Merchant::alone("waiting").await;
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.number < 3 { 503 } else { 200 })).await;
    merchant.endpoint(&receiver.url("/hook"), &["checkout.*"]).await;
    let mut following = authority.begin(&["delivery", "tail", "--mode", "test", "--json"]);
    let mut printed = BufReader::new(following.stdout.take().unwrap()).lines();
    merchant.checkout().await;
    for (number, status) in [(1, 503), (2, 503), (3, 200)] {
        let line = within("an attempt", printed.next_line()).await.unwrap().unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        let attempt = &line["attempt"];
        assert_eq!((&attempt["number"], &attempt["response_status"]), (&json!(number), &json!(status)));
    }
    terminate(&following);
    assert_eq!(within("the end", following.wait()).await.unwrap().code(), Some(0));
}

#[tokio::test]
async fn what_cannot_be_tailed_is_told_in_one_line() {
    let authority = Authority::start(&[]).await;
    for (arguments, code, line) in [
        (["--merchant", "nobody"], 1, "there is no such merchant"),
        (["--endpoint", "we_x"], 1, "there is no such webhook endpoint"),
        (["--last", "101"], 2, "--last must be 0 to 100"),
    ] {
        let said = authority.refuses(&[], &[&["delivery", "tail"][..], &arguments].concat(), code).await;
        assert_eq!(said, format!("authority: {line}\n"));
    }
}
